/**
 * Host names that owners bring are claims until they are proved in DNS. `target` is the given name that a CNAME may lead
 * to; its address records go with the claim. Who made earlier tunnels is not recorded, so that their names are claims
 * without a proof: they stay routed, and get no further certificate before a proof or an operator's order.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table hostname_claims (
    tunnel_id text primary key references tunnels (id) on delete cascade,
    hostname text not null check (hostname = lower(hostname)),
    target text check (target = lower(target)),
    proved_at bigint,
    checked_at bigint,
    provisioned boolean not null default false
  )`,
  `create function hostname_claims_give_up_address_records() returns trigger language plpgsql as $$
    begin
      delete from address_records where hostname = old.target and published is null;
      update address_records set wanted = false, due_at = 0, attempts = 0 where hostname = old.target;
      return null;
    end $$`,
  `create trigger hostname_claims_give_up_address_records after delete on hostname_claims
    for each row when (old.target is not null) execute function hostname_claims_give_up_address_records()`,
  `insert into hostname_claims (tunnel_id, hostname) select id, hostname from tunnels where hostname is not null`
)
