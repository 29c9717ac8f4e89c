/** What the control plane orders, as the processes of one edge tell it each other. Every order is idempotent. */
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { AgentProof } from "@catenet/domain/edges/AgentProof"
import { Tier } from "@catenet/domain/edges/Tier"
import { Schema } from "effect"

/** Tokens are 64 hex digits, hosts are in normal form. */
export const RouteOrder = Schema.TaggedUnion({
  Authorize: {
    host: Schema.String,
    token: Schema.String,
    tier: Tier,
    admissionUntil: Schema.NullOr(Schema.Int),
    /** Whether visitors have to log in; absent: as it was. */
    login: Schema.optional(Schema.Boolean)
  },
  /** Whether visitors of gelb hosts may speak nothing but HTTP. */
  SetHttpOnly: { token: Schema.String, required: Schema.Boolean },
  /** Also says that what is known of the tunnel's visitors is to be asked anew. */
  SetLogin: { token: Schema.String, required: Schema.Boolean },
  Revoke: { token: Schema.String, successor: Schema.optionalKey(Schema.String) },
  SetAgentKeys: { token: Schema.String, keys: Schema.Array(Schema.String), proof: AgentProof },
  /** Say what has been counted until now; this one comes from the edge itself. */
  Report: {},
  SetPolicy: { token: Schema.String, policy: Schema.NullOr(AccessPolicy) }
})
export type RouteOrder = typeof RouteOrder.Type
