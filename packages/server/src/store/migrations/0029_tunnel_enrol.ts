/**
 * The usual creation of a tunnel without a hostname in one trip: its key was not used before and the account has room.
 * What is answered for the key is kept with it. The service decides everything else: the function reports that this was
 * not the usual case, and has changed nothing.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create function tunnel_enrol(
      of_id text, by_subject text, named text, token text, usual_most integer, actor text, action text, moment bigint,
      key text, request text, answer_nonce bytea, answer_sealed bytea,
      out is_new boolean, out refusal text)
    language plpgsql as $$
    begin
      if key is not null then
        insert into idempotent_answers (key_hash, request_hash, created_at, nonce, sealed)
          values (key, request, moment, answer_nonce, answer_sealed) on conflict (key_hash) do nothing;
        is_new := found;
        if not is_new then return; end if;
      end if;
      select n.held < coalesce(n.most, usual_most) into is_new from tunnels_counted(by_subject) n;
      if is_new then
        insert into tunnels (id, subject, name, routing_token, created_at)
          values (of_id, by_subject, named, token, moment);
        refusal := audit_append(actor, action, of_id, '', moment);
      elsif key is not null then
        delete from idempotent_answers where key_hash = key;
      end if;
    end $$`
)
