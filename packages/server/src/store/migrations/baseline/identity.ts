/** Accounts and callers: limits, sessions, sign-ins, service accounts, mail, and the audit log, which only grows. */
export const statements = [
  `create table account_emails (
    subject text not null,
    email text not null,
    constraint account_emails_pkey primary key (subject),
    constraint account_emails_email_check check (email <> ''),
    constraint account_emails_subject_check check (subject <> '')
  )`,
  `create table account_limits (
    subject text not null,
    max_tunnels integer,
    max_channels integer,
    constraint account_limits_pkey primary key (subject),
    constraint account_limits_max_channels_check check (max_channels >= 0),
    constraint account_limits_max_tunnels_check check (max_tunnels >= 0),
    constraint account_limits_subject_check check (subject <> '')
  )`,
  `create table portal_sessions (
    token_hash text not null,
    subject text not null,
    email text,
    id_token text,
    user_agent text not null,
    created_at bigint not null,
    seen_at bigint not null,
    expires_at bigint not null,
    constraint portal_sessions_pkey primary key (token_hash),
    constraint portal_sessions_email_check check (email = lower((email collate "C"))),
    constraint portal_sessions_subject_check check (subject <> ''),
    constraint portal_sessions_token_hash_check check ((length(token_hash) = 64) and (token_hash !~ '[^0-9a-f]'))
  )`,
  `create index portal_sessions_expiry on portal_sessions (expires_at)`,
  `create index portal_sessions_idle on portal_sessions (seen_at)`,
  `create index portal_sessions_sealed_by on portal_sessions ("left"(id_token, 12) collate "C") where (id_token is not null)`,
  `create index portal_sessions_subject on portal_sessions (subject, created_at)`,
  `create table portal_sign_ins (
    secret_hash text not null,
    next text not null,
    expires_at bigint not null,
    constraint portal_sign_ins_pkey primary key (secret_hash),
    constraint portal_sign_ins_next_check check ((next ~ '^s1\\.[0-9a-f]{8}\\.') or (next ~~ '/portal%')),
    constraint portal_sign_ins_secret_hash_check check ((length(secret_hash) = 64) and (secret_hash !~ '[^0-9a-f]'))
  )`,
  `create index portal_sign_ins_expiry on portal_sign_ins (expires_at)`,
  `create index portal_sign_ins_sealed_by on portal_sign_ins ("left"(next, 12) collate "C")`,
  `create table service_accounts (
    client_id text not null,
    owner text not null,
    name text not null,
    state text not null,
    place smallint,
    internal_id text,
    key_hash text,
    created_at bigint not null,
    due_at bigint not null,
    constraint service_accounts_key_unique unique (owner, key_hash),
    constraint service_accounts_pkey primary key (client_id),
    constraint service_accounts_place_unique unique (owner, place),
    constraint service_accounts_active_whole check ((state <> 'active') or (internal_id is not null)),
    constraint service_accounts_client_id_check check (client_id ~ '^sa-[0-9a-f]{32}$'),
    constraint service_accounts_key_hash_check check ((length(key_hash) = 64) and (key_hash !~ '[^0-9a-f]')),
    constraint service_accounts_owner_check check (owner <> ''),
    constraint service_accounts_place_check check ((place >= 1) and (place <= 50)),
    constraint service_accounts_place_held check ((state = 'releasing') or (place is not null)),
    constraint service_accounts_state_check check (state in ('pending', 'active', 'releasing'))
  )`,
  `create index service_accounts_due on service_accounts (due_at) where (state <> 'active')`,
  `create index service_accounts_listed on service_accounts (owner, created_at, client_id) where (state = 'active')`,
  `create table idempotent_answers (
    key_hash text not null,
    request_hash text not null,
    nonce bytea,
    sealed bytea,
    created_at bigint not null,
    constraint idempotent_answers_pkey primary key (key_hash),
    constraint idempotent_answers_key_hash_check check ((length(key_hash) = 64) and (key_hash !~ '[^0-9a-f]')),
    constraint idempotent_answers_request_hash_check check ((length(request_hash) = 64) and (request_hash !~ '[^0-9a-f]'))
  )`,
  `create index idempotent_answers_age on idempotent_answers (created_at)`,
  `create table request_counts (
    key text not null,
    minute bigint not null,
    count integer not null,
    constraint request_counts_pkey primary key (key),
    constraint request_counts_count_check check (count > 0)
  )`,
  `create index request_counts_minute on request_counts (minute)`,
  `create table mail_accounts (
    subject text not null,
    wanted boolean not null,
    language text not null,
    due_at bigint not null,
    constraint mail_accounts_pkey primary key (subject),
    constraint mail_accounts_language_check check (language in ('en', 'de')),
    constraint mail_accounts_subject_check check (subject <> '')
  )`,
  `create index mail_accounts_due on mail_accounts (due_at) where wanted`,
  `create table notice_mails (
    id text not null,
    subject text not null,
    state text not null,
    attempts integer default 0 not null,
    created_at bigint not null,
    due_at bigint not null,
    detail text default '' not null,
    unsubscribe_hash text,
    spent_at bigint,
    constraint notice_mails_pkey primary key (id),
    constraint notice_mails_unsubscribe_unique unique (unsubscribe_hash),
    constraint notice_mails_id_check check ((length(id) = 32) and (id ~ '^[0-9a-f]+$')),
    constraint notice_mails_state_check check (state in ('pending', 'sending', 'sent', 'failed', 'unknown', 'dropped')),
    constraint notice_mails_subject_fkey foreign key (subject) references mail_accounts(subject) on delete cascade
  )`,
  `create index notice_mails_due on notice_mails (due_at) where (state = 'pending')`,
  `create index notice_mails_in_hand on notice_mails (due_at) where (state = 'sending')`,
  `create index notice_mails_old on notice_mails (created_at)`,
  `create index notice_mails_subject on notice_mails (subject)`,
  `create table mailed_notices (
    subject text not null,
    kind text not null,
    about text not null,
    who text not null,
    mail text,
    constraint mailed_notices_pkey primary key (subject, kind, about, who),
    constraint mailed_notices_mail_fkey foreign key (mail) references notice_mails(id) on delete set null,
    constraint mailed_notices_subject_fkey foreign key (subject) references mail_accounts(subject) on delete cascade
  )`,
  `create index mailed_notices_mail on mailed_notices (mail)`,
  `create table audit_log (
    id bigint generated always as identity,
    actor text not null,
    action text not null,
    target text not null,
    detail text not null,
    at bigint not null,
    constraint audit_log_pkey primary key (id),
    constraint audit_log_action_check check (action <> ''),
    constraint audit_log_actor_check check (actor = lower((actor collate "C")))
  )`,
  `create index audit_log_action on audit_log (action, id)`,
  `create index audit_log_actor on audit_log (actor, id)`,
  `create index audit_log_at on audit_log (at)`,
  `create index audit_log_target on audit_log (target, id)`,
  `create table audit_retention (
    one boolean default true not null,
    days integer not null,
    constraint audit_retention_pkey primary key (one),
    constraint audit_retention_days_check check ((days >= 1) and (days <= 36500)),
    constraint audit_retention_one_check check (one)
  )`,
  `create function audit_append(by_actor text, what text, on_target text, note text, moment bigint) returns text language plpgsql as $$
    begin
      insert into audit_log (actor, action, target, detail, at) values (by_actor, what, on_target, note, moment);
      return null;
    exception when others then return sqlerrm;
    end $$`,
  `create function audit_log_only_grows() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and current_setting('catenet.retention', true) = 'on' then return old; end if;
      raise exception 'the audit log only grows' using errcode = 'insufficient_privilege';
    end $$`,
  `create function audit_log_prune() returns bigint language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
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
    end $$`,
  `create trigger audit_log_is_not_emptied before truncate on audit_log for each statement execute function audit_log_only_grows()`,
  `create trigger audit_log_only_grows before delete or update on audit_log for each row execute function audit_log_only_grows()`
]
