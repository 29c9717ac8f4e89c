/**
 * What an edge has to be told about one tunnel. Every call states how things are to be, so that delivering one twice
 * does no harm. The routing token is the name of the queue and is not repeated in the call.
 */
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { Tier } from "@catenet/domain/edges/Tier"
import { AgentProof } from "@catenet/domain/edges/AgentProof"
import { Hostname } from "@catenet/domain/values/Hostname"
import { PublicKey } from "@catenet/domain/values/Keys"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import type { AdmissionEffect } from "@catenet/domain/certificates/Admission"
import { Effect, Schema } from "effect"

export const EdgeCall = Schema.TaggedUnion({
  /** With whether visitors have to log in, where that has to be known before the first of them. */
  AuthorizeHost: {
    hostname: Hostname,
    tier: Tier,
    admissionUntil: Schema.optionalKey(UnixSeconds),
    requireLogin: Schema.optionalKey(Schema.Boolean)
  },
  /** Whether visitors of gelb hosts have to log in. It also says that those who have may no longer pass. */
  SetLogin: { required: Schema.Boolean },
  /** `successor` is the token that the tunnel has instead; hosts that still lead to the old one lead there. */
  Revoke: { successor: Schema.optionalKey(RoutingToken) },
  /** Whether visitors of gelb hosts may speak nothing but HTTP. */
  SetHttpOnly: { required: Schema.Boolean },
  SetAccessPolicy: { policy: Schema.NullOr(AccessPolicy) },
  /** The keys of the agents that may serve the tunnel, and whether one of them must be proved. */
  SetAgentKeys: {
    keys: Schema.Array(PublicKey),
    proof: AgentProof.pipe(Schema.withDecodingDefaultKey(Effect.succeed("optional" as const)))
  }
})
export type EdgeCall = typeof EdgeCall.Type

/** How the edge is to serve the hostname from now on. */
export const authorizeHost = (
  hostname: Hostname,
  { admissionUntil, tier }: Omit<Extract<AdmissionEffect, { readonly _tag: "SetTier" }>, "_tag">
): EdgeCall => ({
  _tag: "AuthorizeHost",
  hostname,
  tier,
  ...(admissionUntil === undefined ? {} : { admissionUntil: UnixSeconds.make(admissionUntil) })
})

/**
 * What a call says the state of. A later call about the same makes an earlier one that no edge has taken needless; null
 * where each call counts.
 */
export const aboutOf = (call: EdgeCall): string | null => {
  switch (call._tag) {
    case "AuthorizeHost":
      return `host ${call.hostname}`
    case "SetHttpOnly":
    case "SetAccessPolicy":
    case "SetAgentKeys":
    case "SetLogin":
      return call._tag
    case "Revoke":
      return null
  }
}
