/** Noise keys that agents of topologies have attested for the channels of their links. */
import * as Statements from "./Statements.ts"

const hex = (digits: number, column: string) =>
  `${column} text not null check (length(${column}) = ${digits} and ${column} ~ '^[0-9a-f]+$')`

export const up = Statements.of(
  `create table topology_noise_keys (
    ${hex(64, "channel")},
    agent text not null references topology_agents (agent) on delete cascade,
    ${hex(64, "noise_pubkey")},
    ${hex(128, "noise_attestation")},
    primary key (agent, channel)
  )`
)
