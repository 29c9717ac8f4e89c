/**
 * Mail about notices: which accounts want it, which notices they were mailed, and the mails. A mail that is marked as being
 * sent is never sent again. Of the token that switches mail off only a hash is kept.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table mail_accounts (
    subject text primary key check (subject <> ''),
    wanted boolean not null,
    language text not null check (language in ('en', 'de')),
    due_at bigint not null
  )`,
  `create index mail_accounts_due on mail_accounts (due_at) where wanted`,
  `create table notice_mails (
    id text primary key check (length(id) = 32 and id ~ '^[0-9a-f]+$'),
    subject text not null references mail_accounts (subject) on delete cascade,
    state text not null check (state in ('pending', 'sending', 'sent', 'failed', 'unknown', 'dropped')),
    attempts integer not null default 0,
    created_at bigint not null,
    due_at bigint not null,
    detail text not null default '',
    unsubscribe_hash text constraint notice_mails_unsubscribe_unique unique,
    spent_at bigint
  )`,
  `create index notice_mails_due on notice_mails (due_at) where state = 'pending'`,
  `create index notice_mails_subject on notice_mails (subject)`,
  `create index notice_mails_old on notice_mails (created_at)`,
  `create table mailed_notices (
    subject text not null references mail_accounts (subject) on delete cascade,
    kind text not null,
    about text not null,
    who text not null,
    mail text references notice_mails (id) on delete set null,
    primary key (subject, kind, about, who)
  )`,
  `create index mailed_notices_mail on mailed_notices (mail)`
)
