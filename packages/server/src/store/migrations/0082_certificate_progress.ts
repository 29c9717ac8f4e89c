/**
 * What the agent of a hostname does for its certificate, in its own words: people read it, and the agents of one tunnel order
 * one after another by it. It goes with the hostname.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table certificate_progress (
    hostname text primary key references hosts (hostname) on delete cascade,
    agent text not null,
    step text not null,
    at bigint not null
  )`
)
