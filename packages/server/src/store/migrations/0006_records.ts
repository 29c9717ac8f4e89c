/** The audit log, which only grows, and the answers of requests that may be repeated. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table audit_log (
    id bigint generated always as identity primary key,
    actor text not null check (actor = lower(actor)),
    action text not null check (action <> ''),
    target text not null,
    detail text not null,
    at bigint not null
  )`,
  `create index audit_log_actor on audit_log (actor, id)`,
  `create index audit_log_action on audit_log (action, id)`,
  `create index audit_log_target on audit_log (target, id)`,
  `create index audit_log_at on audit_log (at)`,
  `create function audit_log_only_grows() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and current_setting('catenet.retention', true) = 'on' then return old; end if;
      raise exception 'the audit log only grows' using errcode = 'insufficient_privilege';
    end $$`,
  `create trigger audit_log_only_grows before update or delete on audit_log
    for each row execute function audit_log_only_grows()`,
  `create trigger audit_log_is_not_emptied before truncate on audit_log
    for each statement execute function audit_log_only_grows()`,
  `create table idempotent_answers (
    key_hash text primary key check (key_hash ~ '^[0-9a-f]{64}$'),
    request_hash text not null check (request_hash ~ '^[0-9a-f]{64}$'),
    nonce bytea,
    sealed bytea,
    created_at bigint not null
  )`,
  `create index idempotent_answers_age on idempotent_answers (created_at)`
)
