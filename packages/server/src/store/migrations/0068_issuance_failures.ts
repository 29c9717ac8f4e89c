/**
 * Why authorities gave a hostname no certificate, the last time for each: its owner reads it, and the authority is left out
 * for a while. It goes with the hostname.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table issuance_failures (
    hostname text not null references hosts (hostname) on delete cascade,
    ca text not null,
    reason text not null,
    detail text,
    at bigint not null,
    retry_at bigint not null,
    primary key (hostname, ca)
  )`
)
