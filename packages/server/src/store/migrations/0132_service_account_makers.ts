/**
 * Service accounts have no quotas and shares beside those of the account that made them: their subjects, with the account at the
 * root, where one was made by another. A row is written when a token of one is first seen, and outlives the service account for
 * as long as its subject owns something. A limit of tunnels or channels that an operator gives a service account is its own.
 */
import * as Statements from "./Statements.ts"

/** What an account may have, and how many it and all that share with it have; counts of one root come one after the other. */
const counted = (name: string, of: string, lock: number, table: string, owner: string, column: string) =>
  `create or replace function ${name}(${of} text, out held bigint, out most integer) returns record language plpgsql as $$
    declare root text := quota_subject(${of});
    begin
      perform pg_advisory_xact_lock(hashtextextended(root, ${lock}));
      most := (select l.${column} from account_limits l where l.subject = ${of});
      if root <> ${of} and most is not null then
        held := (select count(*) from ${table} t where t.${owner} = ${of});
      else
        most := (select l.${column} from account_limits l where l.subject = root);
        held := (select count(*) from ${table} t where t.${owner} = root or t.${owner} = any(array(
          select m.subject from service_account_makers m left join account_limits l on l.subject = m.subject
          where m.maker = root and l.${column} is null)));
      end if;
    end $$`

export const up = Statements.of(
  `create table service_account_makers (
    subject text not null,
    maker text not null,
    client_id text not null,
    constraint service_account_makers_pkey primary key (subject),
    constraint service_account_makers_maker_check check ((maker <> '') and (maker <> subject))
  )`,
  `create index service_account_makers_maker on service_account_makers (maker)`,
  `create function quota_subject(of_subject text) returns text language plpgsql stable parallel safe as $$
    begin
      return coalesce((select m.maker from service_account_makers m where m.subject = of_subject), of_subject);
    end $$`,
  `create function quota_subjects(of_subject text) returns text[] language plpgsql stable parallel safe as $$
    declare root text := quota_subject(of_subject);
    begin
      return array(select m.subject from service_account_makers m where m.maker = root) || root;
    end $$`,
  counted("tunnels_counted", "of_subject", 2, "tunnels", "subject", "max_tunnels"),
  `create or replace function tunnels_admit(of_subject text, usual_most integer) returns boolean language plpgsql as $$
    declare counted record;
    begin
      select n.held, coalesce(n.most, usual_most) as most into counted from tunnels_counted(of_subject) n;
      if counted.held < counted.most then return true; end if;
      raise check_violation using message = 'the account has no room for another tunnel', constraint = 'tunnels_per_account', detail = counted.most::text;
    end $$`,
  counted("channels_counted", "of_owner", 4, "channels", "owner", "max_channels"),
  `create or replace function revocation_holder(subject text) returns text language sql stable as $$
    select encode(sha256(convert_to(quota_subject(subject), 'UTF8')), 'hex') $$`
)
