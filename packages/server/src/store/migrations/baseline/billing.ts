/** Credits: balances follow from the ledger, which only grows; payments, and issuances that were redeemed. */
export const statements = [
  `create table accounts (
    account text not null,
    subject text,
    balance bigint default 0 not null,
    created_at bigint not null,
    constraint accounts_pkey primary key (account),
    constraint accounts_subject_unique unique (subject),
    constraint accounts_account_check check ((length(account) = 64) and (account !~ '[^0-9a-f]')),
    constraint accounts_balance_exact check (balance <= '9007199254740991'::bigint),
    constraint accounts_balance_not_negative check (balance >= 0),
    constraint accounts_subject_check check (subject <> '')
  )`,
  `create table credit_ledger (
    id bigint generated always as identity,
    account text not null,
    delta bigint not null,
    reason text not null,
    at bigint not null,
    constraint credit_ledger_pkey primary key (id),
    constraint credit_ledger_delta_check check (delta <> 0),
    constraint credit_ledger_account_fkey foreign key (account) references accounts(account)
  )`,
  `create index credit_ledger_account on credit_ledger (account, id)`,
  `create table credit_issuances (
    id bigint generated always as identity,
    account text not null,
    price bigint not null,
    at bigint not null,
    key_hash text,
    nonce bytea,
    sealed bytea,
    constraint credit_issuances_key_unique unique (key_hash),
    constraint credit_issuances_pkey primary key (id),
    constraint credit_issuances_kept_whole check (((key_hash is null) = (sealed is null)) and ((sealed is null) = (nonce is null))),
    constraint credit_issuances_key_hash_check check ((length(key_hash) = 64) and (key_hash !~ '[^0-9a-f]')),
    constraint credit_issuances_price_check check (price > 0),
    constraint credit_issuances_account_fkey foreign key (account) references accounts(account)
  )`,
  `create index credit_issuances_account on credit_issuances (account, id)`,
  `create table payment_intents (
    payment text not null,
    account text not null,
    credits bigint not null,
    confirmed boolean default false not null,
    created_at bigint not null,
    constraint payment_intents_pkey primary key (payment),
    constraint payment_intents_credits_check check (credits > 0),
    constraint payment_intents_payment_check check ((length(payment) = 64) and (payment !~ '[^0-9a-f]')),
    constraint payment_intents_account_fkey foreign key (account) references accounts(account)
  )`,
  `create index payment_intents_account on payment_intents (account, created_at, payment)`,
  `create index payment_intents_confirmed on payment_intents (confirmed) where confirmed`,
  `create index payment_intents_unconfirmed on payment_intents (created_at) where (not confirmed)`,
  `create table pruned_redemptions (
    one boolean default true not null,
    count bigint not null,
    constraint pruned_redemptions_pkey primary key (one),
    constraint pruned_redemptions_one_check check (one)
  )`,
  `create function accounts_balance_is_of_the_ledger() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' and new.balance = 0 then return new; end if;
      if tg_op = 'UPDATE' and (new.balance = old.balance or pg_trigger_depth() > 1) then return new; end if;
      raise exception 'a balance changes by the ledger only' using errcode = 'insufficient_privilege';
    end $$`,
  `create function credit_ledger_moves_the_balance() returns trigger language plpgsql as $$
    begin
      update accounts set balance = balance + new.delta where account = new.account;
      return new;
    end $$`,
  `create function credit_ledger_only_grows() returns trigger language plpgsql as $$
    begin
      raise exception 'the ledger only grows' using errcode = 'insufficient_privilege';
    end $$`,
  `create trigger accounts_balance_is_of_the_ledger before insert or update on accounts for each row execute function accounts_balance_is_of_the_ledger()`,
  `create trigger credit_ledger_is_not_emptied before truncate on credit_ledger for each statement execute function credit_ledger_only_grows()`,
  `create trigger credit_ledger_moves_the_balance after insert on credit_ledger for each row execute function credit_ledger_moves_the_balance()`,
  `create trigger credit_ledger_only_grows before delete or update on credit_ledger for each row execute function credit_ledger_only_grows()`,
  `insert into pruned_redemptions (one, count) values (true, 0)`
]
