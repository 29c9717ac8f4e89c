/**
 * What the platform's own identity provider keeps: keys, clients and registered applications (sealed), users, the
 * provider's records (sessions, grants, codes, tokens), codes that were mailed, and the queue of that mail. Records are
 * found by hashes of their ids, which are bearer secrets.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table sign_in_keys (
    id text not null,
    purpose text not null,
    key text not null,
    created_at bigint not null,
    constraint sign_in_keys_pkey primary key (id),
    constraint sign_in_keys_purpose_check check (purpose in ('signing', 'cookie')),
    constraint sign_in_keys_key_check check (key ~ '^s1\\.[0-9a-f]{8}\\.')
  )`,
  `create table sign_in_clients (
    id text not null,
    client_id text not null,
    content text not null,
    constraint sign_in_clients_pkey primary key (id),
    constraint sign_in_clients_client_id_key unique (client_id),
    constraint sign_in_clients_content_check check (content ~ '^s1\\.[0-9a-f]{8}\\.')
  )`,
  `create table sign_in_applications (
    id text not null,
    holder text not null,
    content text not null,
    created_at bigint not null,
    agreed_by text,
    agreed_until bigint,
    constraint sign_in_applications_pkey primary key (id)
  )`,
  `create table sign_in_users (
    id text not null,
    username text not null,
    email text not null,
    email_verified boolean not null,
    name text not null,
    password_hash text,
    management_roles text[] not null,
    constraint sign_in_users_pkey primary key (id),
    constraint sign_in_users_username_key unique (username),
    constraint sign_in_users_email_key unique (email)
  )`,
  `create table sign_in_records (
    model text not null,
    id text not null,
    payload text not null,
    uid text,
    user_code text,
    grant_id text,
    account_id text,
    expires_at bigint,
    consumed_at bigint,
    constraint sign_in_records_pkey primary key (model, id),
    constraint sign_in_records_payload_check check (payload ~ '^s1\\.[0-9a-f]{8}\\.')
  )`,
  `create index sign_in_records_uid on sign_in_records (uid) where uid is not null`,
  `create index sign_in_records_user_code on sign_in_records (user_code) where user_code is not null`,
  `create index sign_in_records_grant on sign_in_records (grant_id) where grant_id is not null`,
  `create index sign_in_records_account on sign_in_records (account_id) where model in ('Grant', 'Session')`,
  `create index sign_in_records_expires on sign_in_records (expires_at)`,
  `create index sign_in_records_payload on sign_in_records (left(payload, 12) collate "C")`,
  `create table sign_in_codes (
    sign_in text not null,
    email text not null,
    code text not null,
    tries integer default 0 not null,
    expires_at bigint not null,
    constraint sign_in_codes_pkey primary key (sign_in),
    constraint sign_in_codes_email_check check (email ~ '^s1\\.[0-9a-f]{8}\\.')
  )`,
  `create index sign_in_codes_expires on sign_in_codes (expires_at)`,
  `create table sign_in_mails (
    id text not null,
    content text not null,
    created_at bigint not null,
    due_at bigint not null,
    constraint sign_in_mails_pkey primary key (id),
    constraint sign_in_mails_content_check check (content ~ '^s1\\.[0-9a-f]{8}\\.')
  )`,
  `create index sign_in_mails_due on sign_in_mails (due_at)`
)
