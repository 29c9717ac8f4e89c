/**
 * Orders of the control plane about one tunnel, as the outbox stores them and as the processes of an edge pass them on.
 * Each states the desired state, so applying one twice does no harm. The routing token of the tunnel is not part of it.
 */
import { Effect, Schema } from "effect"
import { ChannelId } from "../channels/Channel.ts"
import { StoredRules } from "../rules/Rules.ts"
import { Hex64 } from "../values/Hex.ts"
import { TunnelHostname } from "../values/Hostname.ts"
import { HolderKey, PublicKey } from "../values/Keys.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { RoutingToken } from "../values/Tokens.ts"
import { AccessPolicy } from "./AccessPolicy.ts"
import { Tier } from "./EdgeNode.ts"
import { PublicPort } from "./PublicPort.ts"
import { AgentProof, TunnelOptions } from "./TunnelOptions.ts"

/** The revision of the tunnel's policy that the order belongs to, by which agents know whether they have it. */
const revision = { revision: Schema.optionalKey(Count) }

/** The fields of each order. */
export const edgeOrderFields = {
  /**
   * What members of a channel have at the edge is ended, waiting or talking; without a holder, what all have. The queue of such
   * an order has the channel for a name.
   */
  CutMembers: {
    channel: ChannelId,
    holder: Schema.optionalKey(HolderKey),
    /** SHA-256 of a grant: what the holder has by this one goes on. */
    keeps: Schema.optionalKey(Hex64)
  },
  /** With whether visitors have to log in, where that has to be known before the first of them. */
  AuthorizeHost: {
    hostname: TunnelHostname,
    tier: Tier,
    admissionUntil: Schema.optionalKey(UnixSeconds),
    requireLogin: Schema.optionalKey(Schema.Boolean)
  },
  /** The host name leads to the tunnel no longer. */
  ReleaseHost: { hostname: TunnelHostname },
  /** Whether visitors of gelb hosts have to log in. It also says that those who have may no longer pass. */
  SetLogin: { required: Schema.Boolean, ...revision },
  /** `successor` is the token that the tunnel has instead; hosts that still lead to the old one lead there. */
  Revoke: { successor: Schema.optionalKey(RoutingToken) },
  SetOptions: { options: TunnelOptions, ...revision },
  SetAccessPolicy: { policy: Schema.NullOr(AccessPolicy), ...revision },
  /** The public port of the tunnel. Only edges that offer ports get it. */
  SetPort: { port: PublicPort },
  SetRules: { rules: StoredRules, ...revision },
  /** The keys of the agents that may serve the tunnel, and whether one of them must be proved. */
  SetAgentKeys: {
    keys: Schema.Array(PublicKey),
    proof: AgentProof.pipe(Schema.withDecodingDefaultKey(Effect.succeed("optional" as const)))
  }
}

export const EdgeOrder = Schema.TaggedUnion(edgeOrderFields)
export type EdgeOrder = typeof EdgeOrder.Type
