/**
 * The usual registration of a channel in one trip: no account has it and this one has room. The service decides everything
 * else: the function reports that this was not the usual case.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create function channel_register(
      of_channel text, by_owner text, key text, usual_most integer, actor text, action text, moment bigint,
      out is_new boolean, out refusal text)
    language plpgsql as $$
    declare found record;
    begin
      select * into found from channel_to_register(of_channel, by_owner);
      is_new := found.owner is null and found.held < coalesce(found.most, usual_most);
      if is_new then
        insert into channels (channel, owner, operator_pubkey, created_at) values (of_channel, by_owner, key, moment);
        refusal := audit_append(actor, action, of_channel, key, moment);
      end if;
    end $$`
)
