/**
 * The server may run as a role that owns nothing and can only add to the audit log. What it may not do itself, to remove
 * entries that are older than the operator keeps, is a function of the owner, which reads the age from a table that only
 * the owner writes (`catenet migrate`), and the time from the database.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table audit_retention (
    one boolean primary key default true check (one),
    days integer not null check (days between 1 and 36500)
  )`,
  `create function audit_log_prune() returns bigint language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      kept integer := (select days from audit_retention);
      removed bigint;
    begin
      if kept is null then return 0; end if;
      perform set_config('catenet.retention', 'on', true);
      delete from audit_log where at < extract(epoch from now())::bigint - kept * 86400::bigint;
      get diagnostics removed = row_count;
      perform set_config('catenet.retention', 'off', true);
      return removed;
    end $$`
)
