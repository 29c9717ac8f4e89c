/**
 * The signed card that an agent serves at `/.well-known/agent-card.json`. The holder alone vouches for its content.
 *
 * The signature is over the fields, not over this JSON; `@catenet/crypto` makes and checks it.
 */
import { Schema } from "effect"
import { ChannelId } from "../channels/Channel.ts"
import { Hex64 } from "../values/Hex.ts"
import { HolderKey, Signature } from "../values/Keys.ts"
import { Uint64 } from "../values/Numbers.ts"

/** Something the agent can do; a skill without `examples` does not parse. */
export class Skill extends Schema.Class<Skill>("Skill")({
  id: Schema.String,
  description: Schema.String,
  examples: Schema.Array(Schema.String)
}) {}

export class AgentCard extends Schema.Class<AgentCard>("AgentCard")({
  holder_pubkey: HolderKey,
  role_tags: Schema.Array(Schema.String),
  skills: Schema.Array(Skill),
  cells: Schema.Array(Hex64),
  channels: Schema.Array(ChannelId),
  issued_at: Uint64,
  expires_at: Uint64,
  signature: Signature
}) {}
