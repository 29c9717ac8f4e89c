/**
 * Hostnames that are to have address records in the zone of the DNS back end, or are to lose them. `published` is what
 * the zone was last seen to take: nothing, or '' while that is not known. A row without `due_at` is as it should be.
 * Whatever removes a tunnel gives up its hostname's records with it.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table address_records (
    hostname text primary key check (hostname = lower(hostname)),
    wanted boolean not null,
    published text,
    due_at bigint,
    attempts integer not null default 0 check (attempts >= 0),
    leased_until bigint not null default 0,
    constraint address_records_unwanted_are_due check (wanted or due_at is not null)
  )`,
  `create index address_records_due on address_records (due_at) where due_at is not null`,
  `create function tunnels_give_up_address_records() returns trigger language plpgsql as $$
    begin
      delete from address_records where hostname = old.hostname and published is null;
      update address_records set wanted = false, due_at = 0, attempts = 0 where hostname = old.hostname;
      return null;
    end $$`,
  `create trigger tunnels_give_up_address_records after delete on tunnels
    for each row when (old.hostname is not null) execute function tunnels_give_up_address_records()`,
  // Names that were given out before: the last part of the first label is that of the owner.
  `insert into address_records (hostname, wanted, due_at)
    select hostname, true, 0 from tunnels
    where hostname like '%-' || left(encode(sha256(convert_to(subject, 'UTF8')), 'hex'), 8) || '.%'`
)
