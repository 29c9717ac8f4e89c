/**
 * The ledger keeps itself: it only grows, each of its lines moves the balance of its account, and nothing else does. A
 * balance is therefore the sum of its lines, for every writer to the database.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table accounts add constraint accounts_balance_exact check (balance <= 9007199254740991)`,
  `create function accounts_balance_is_of_the_ledger() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' and new.balance = 0 then return new; end if;
      if tg_op = 'UPDATE' and (new.balance = old.balance or pg_trigger_depth() > 1) then return new; end if;
      raise exception 'a balance changes by the ledger only' using errcode = 'insufficient_privilege';
    end $$`,
  `create trigger accounts_balance_is_of_the_ledger before insert or update on accounts
    for each row execute function accounts_balance_is_of_the_ledger()`,
  `create function credit_ledger_moves_the_balance() returns trigger language plpgsql as $$
    begin
      update accounts set balance = balance + new.delta where account = new.account;
      return new;
    end $$`,
  `create trigger credit_ledger_moves_the_balance after insert on credit_ledger
    for each row execute function credit_ledger_moves_the_balance()`,
  `create function credit_ledger_only_grows() returns trigger language plpgsql as $$
    begin
      raise exception 'the ledger only grows' using errcode = 'insufficient_privilege';
    end $$`,
  `create trigger credit_ledger_only_grows before update or delete on credit_ledger
    for each row execute function credit_ledger_only_grows()`,
  `create trigger credit_ledger_is_not_emptied before truncate on credit_ledger
    for each statement execute function credit_ledger_only_grows()`
)
