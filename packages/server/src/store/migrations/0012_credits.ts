/**
 * Accounts with their credits. The balance is the sum of the ledger and never negative, which the database holds; a
 * payment counts once, and a key has bought one token.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table accounts (
    account text primary key check (account ~ '^[0-9a-f]{64}$'),
    subject text constraint accounts_subject_unique unique check (subject <> ''),
    balance bigint not null default 0 constraint accounts_balance_not_negative check (balance >= 0),
    created_at bigint not null
  )`,
  `create table credit_ledger (
    id bigint generated always as identity primary key,
    account text not null references accounts (account),
    delta bigint not null check (delta <> 0),
    reason text not null,
    at bigint not null
  )`,
  `create index credit_ledger_account on credit_ledger (account, id)`,
  `create table payment_intents (
    payment text primary key check (payment ~ '^[0-9a-f]{64}$'),
    account text not null references accounts (account),
    credits bigint not null check (credits > 0),
    confirmed boolean not null default false,
    created_at bigint not null
  )`,
  `create index payment_intents_account on payment_intents (account, created_at, payment)`,
  `create index payment_intents_confirmed on payment_intents (confirmed) where confirmed`,
  `create table credit_issuances (
    id bigint generated always as identity primary key,
    account text not null references accounts (account),
    price bigint not null check (price > 0),
    at bigint not null,
    key_hash text constraint credit_issuances_key_unique unique check (key_hash ~ '^[0-9a-f]{64}$'),
    nonce bytea,
    sealed bytea,
    constraint credit_issuances_kept_whole check ((key_hash is null) = (sealed is null) and (sealed is null) = (nonce is null))
  )`,
  `create index credit_issuances_account on credit_issuances (account, id)`
)
