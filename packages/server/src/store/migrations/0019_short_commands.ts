/**
 * What the most frequent commands do in one trip to the database instead of several. Each function takes its locks
 * before it reads, in statements of their own, so that it sees what those before it have done.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create function audit_append(by_actor text, what text, on_target text, note text, moment bigint) returns text
    language plpgsql as $$
    begin
      insert into audit_log (actor, action, target, detail, at) values (by_actor, what, on_target, note, moment);
      return null;
    exception when others then return sqlerrm;
    end $$`,
  `create function tunnels_counted(of_subject text, out held bigint, out most integer) language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(hashtextextended(of_subject, 2));
      held := (select count(*) from tunnels t where t.subject = of_subject);
      most := (select l.max_tunnels from account_limits l where l.subject = of_subject);
    end $$`,
  `create function channels_counted(of_owner text, out held bigint, out most integer) language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(hashtextextended(of_owner, 4));
      held := (select count(*) from channels c where c.owner = of_owner);
      most := (select l.max_channels from account_limits l where l.subject = of_owner);
    end $$`,
  `create function channel_to_register(
      of_channel text, by_owner text, out owner text, out operator_pubkey text, out held bigint, out most integer)
    language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(hashtextextended(of_channel, 3));
      select c.owner, c.operator_pubkey into owner, operator_pubkey from channels c where c.channel = of_channel;
      select n.held, n.most into held, most from channels_counted(by_owner) n;
    end $$`
)
