/**
 * The channel of a link is registered in the usual way only with the key of the operator that the topology is bound to. With another
 * key it is not the usual case, and the service refuses it.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create or replace function channel_register(
      of_channel text, by_owner text, key text, usual_most integer, actor text, action text, moment bigint,
      out is_new boolean, out refusal text)
    language plpgsql as $$
    declare found record;
    begin
      select * into found from channel_to_register(of_channel, by_owner);
      is_new := found.owner is null and found.held < coalesce(found.most, usual_most) and not exists (
        select from topology_edges e join topologies t on t.id = e.topology_id
        where e.link = of_channel and t.operator_pubkey <> key);
      if is_new then
        insert into channels (channel, owner, operator_pubkey, created_at) values (of_channel, by_owner, key, moment);
        refusal := audit_append(actor, action, of_channel, key, moment);
      end if;
    end $$`
)
