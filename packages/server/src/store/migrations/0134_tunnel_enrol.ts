/**
 * Makes every tunnel by one function: a statement that claims the key, counts, inserts and writes the audit entry is planned anew at
 * each call, which costs more than the call. Counts the tunnels and channels of an account without service accounts by one index.
 */
import * as Statements from "./Statements.ts"

/** As in 0132, in which each count looked for the service accounts of the root row by row. */
const counted = (name: string, of: string, lock: number, table: string, owner: string, column: string) =>
  `create or replace function ${name}(${of} text, out held bigint, out most integer) returns record language plpgsql as $$
    declare
      root text := quota_subject(${of});
      family text[];
    begin
      perform pg_advisory_xact_lock(hashtextextended(root, ${lock}));
      most := (select l.${column} from account_limits l where l.subject = ${of});
      if root <> ${of} and most is not null then
        held := (select count(*) from ${table} t where t.${owner} = ${of});
        return;
      end if;
      if root <> ${of} then most := (select l.${column} from account_limits l where l.subject = root); end if;
      held := (select count(*) from ${table} t where t.${owner} = root);
      family := array(select m.subject from service_account_makers m where m.maker = root);
      if family <> '{}' then
        held := held + (select count(*) from ${table} t where t.${owner} = any(family)
          and not exists (select from account_limits l where l.subject = t.${owner} and l.${column} is not null));
      end if;
    end $$`

export const up = Statements.of(
  counted("tunnels_counted", "of_subject", 2, "tunnels", "subject", "max_tunnels"),
  counted("channels_counted", "of_owner", 4, "channels", "owner", "max_channels"),
  `create function tunnel_enrol(of_id text, by_subject text, named text, at_hostname text, token text, moment bigint, usual_most integer, actor text, action text, key_caller text, key text, request text, answer_nonce bytea, answer_sealed bytea, out is_new boolean, out refusal text) returns record language plpgsql as $$
    begin
      if key is not null then
        insert into idempotent_answers (key_hash, request_hash, caller, created_at, nonce, sealed)
          values (key, request, key_caller, moment, answer_nonce, answer_sealed) on conflict (key_hash) do nothing;
        is_new := found;
        if not is_new then return; end if;
      end if;
      if usual_most is not null then perform tunnels_admit(by_subject, usual_most); end if;
      insert into tunnels (id, subject, name, hostname, routing_token, created_at)
        values (of_id, by_subject, named, at_hostname, token, moment);
      is_new := true;
      refusal := audit_append(actor, action, of_id, '', moment);
    end $$`
)
