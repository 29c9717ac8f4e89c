/**
 * Limits of ports and of own host names that an operator gives an account. `account_limit` answers what holds for an account and
 * whose holdings count with its own, by the rules of `tunnels_counted`.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table account_limits add column max_ports integer, add column max_hosts integer,
    add constraint account_limits_max_ports_check check (max_ports >= 0),
    add constraint account_limits_max_hosts_check check (max_hosts >= 0)`,
  `create function account_limit(of_subject text, what text, usual integer, out most integer, out sharing text[]) returns record language plpgsql stable as $$
    declare root text := quota_subject(of_subject);
    begin
      most := (select (to_jsonb(l) ->> what)::integer from account_limits l where l.subject = of_subject);
      if root <> of_subject and most is not null then
        sharing := array[of_subject];
        return;
      end if;
      if root <> of_subject then most := (select (to_jsonb(l) ->> what)::integer from account_limits l where l.subject = root); end if;
      most := coalesce(most, usual);
      sharing := array(select m.subject from service_account_makers m where m.maker = root
        and not exists (select from account_limits l where l.subject = m.subject and to_jsonb(l) ->> what is not null)) || root;
    end $$`
)
