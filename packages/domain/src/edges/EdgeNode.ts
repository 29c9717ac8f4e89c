/** An edge server, as the control plane and other edges know it. Not an edge of a topology. */
import { Effect, Schema } from "effect"
import { StoredRules } from "../rules/Rules.ts"
import { boundedArray } from "../values/BoundedArray.ts"
import { Hex64 } from "../values/Hex.ts"
import { TunnelHostname } from "../values/Hostname.ts"
import { NewPublicKey, PublicKey, Signature } from "../values/Keys.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { pattern } from "../values/Pattern.ts"
import { line } from "../values/Text.ts"
import { RoutingToken } from "../values/Tokens.ts"
import { AccessPolicy } from "./AccessPolicy.ts"
import { OfferedPorts, PublicPort } from "./PublicPort.ts"
import { AgentProof, TunnelOptions } from "./TunnelOptions.ts"

/** Whether an edge ends the TLS of a host name (`gelb`) or passes it through. */
export const Tier = Schema.Literals(["gelb", "passthrough"])
export type Tier = typeof Tier.Type

/** Name of an edge server: 1 to 64 of letters, digits, `.`, `_`, `-`. */
export const EdgeId = Schema.String.check(
  pattern(/^[A-Za-z0-9._-]{1,64}$/u, "1 to 64 of letters, digits, dot, underscore and hyphen")
).pipe(Schema.brand("EdgeId"))
export type EdgeId = typeof EdgeId.Type

/** Where other edges reach an edge, `host:port`. Kept as it was signed. */
export const PeerAddress = line(255).pipe(Schema.brand("PeerAddress"))
export type PeerAddress = typeof PeerAddress.Type

/** Base URL of an edge's admin interface, without credentials, query and fragment. Kept as it was signed. */
export const AdminUrl = Schema.String.check(
  Schema.isMaxLength(255),
  pattern(
    /^https?:\/\/[A-Za-z0-9._:[\]-]+(?:\/[A-Za-z0-9._~/-]*)?$/u,
    "an http or https URL of a host and perhaps a path"
  )
).pipe(Schema.brand("AdminUrl"))
export type AdminUrl = typeof AdminUrl.Type

/** A stretch of time in which the control plane has written every order for an edge. */
export const Epoch = Schema.String.check(pattern(/^[0-9a-f-]{1,36}$/u, "1 to 36 hex digits and hyphens"))
export type Epoch = typeof Epoch.Type

/** Header of the answer to a heartbeat that says which epoch the edge is in. */
export const epochHeader = "x-ct-edge-epoch"

/** Where a tunnel is served from. */
export class EdgeNode extends Schema.Class<EdgeNode>("EdgeNode")({ edge_id: EdgeId, peer_addr: PeerAddress }) {}

/** Edges in the order in which a visitor is taken to them: the second is tried where the first does not answer or has no agent. */
export class ServingEdges extends EdgeNode.extend<ServingEdges>("ServingEdges")({
  others: Schema.optionalKey(Schema.Array(EdgeNode).check(Schema.isMaxLength(1)))
}) {}

/** How many tunnels one report of an edge names at most. */
export const reportedTunnels = 1_000

/**
 * Which tunnels have an agent at an edge since its last report, and which have none any more. A `whole` report begins anew: what
 * the edge had reported before holds no longer.
 */
export class AgentPresence extends Schema.Class<AgentPresence>("AgentPresence")({
  edge_id: EdgeId,
  whole: Schema.Boolean,
  present: boundedArray(reportedTunnels, RoutingToken),
  absent: boundedArray(reportedTunnels, RoutingToken)
}) {}

/**
 * An edge says that it lives. The first key it presents is pinned; key and signature come together or not at all. With
 * `rebuilt`, the epoch whose state it has or is about to restore (null at a start), it gets every order of that epoch;
 * answered another one, it restores everything. Its orders go to `admin_url`, which is signed by the same key.
 */
export class Heartbeat extends Schema.Class<Heartbeat>("Heartbeat")(
  Schema.Struct({
    id: EdgeId,
    peer_addr: PeerAddress,
    pubkey: Schema.optionalKey(NewPublicKey),
    signature: Schema.optionalKey(Signature),
    rebuilt: Schema.optionalKey(Schema.NullOr(Epoch)),
    admin_url: Schema.optionalKey(AdminUrl),
    admin_signature: Schema.optionalKey(Signature),
    /** The ports that it offers to tunnels; absent where it offers none. */
    ports: Schema.optionalKey(OfferedPorts)
  })
) {}

/** An edge that has reported itself: where it is, the key that it is pinned to, and whether it was heard of lately. */
export class ReportedEdge extends Schema.Class<ReportedEdge>("ReportedEdge")({
  edge_id: EdgeId,
  peer_addr: PeerAddress,
  pubkey: Schema.NullOr(PublicKey),
  seen_at: UnixSeconds,
  live: Schema.Boolean
}) {}

/** One authorization that an edge restores at boot. Without a host name the token alone is authorized. */
export class Authorisation extends Schema.Class<Authorisation>("Authorisation")({
  token: RoutingToken,
  hostname: Schema.NullOr(TunnelHostname),
  tier: Tier.pipe(Schema.withDecodingDefaultKey(Effect.succeed("passthrough" as const))),
  policy: Schema.NullOr(AccessPolicy).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  /** Until when an authority may validate the host name whatever the policy says: its certificate admission is open. */
  admission_until: Schema.NullOr(UnixSeconds).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  /** The keys of the agents that may serve the tunnel. */
  agent_keys: Schema.Array(PublicKey).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  /** The name of the tunnel's records, where it is not the hash of the token: the tunnel had another token before. */
  records_name: Schema.NullOr(Hex64).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  agent_proof: AgentProof.pipe(Schema.withDecodingDefaultKey(Effect.succeed("optional" as const))),
  ...TunnelOptions.fields,
  /** The public port of the tunnel. */
  port: Schema.NullOr(PublicPort).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  /** What its owner wants done with each request. */
  rules: StoredRules.pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  /** Visitors of its gelb hosts have to log in. */
  require_login: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  /** An opaque name of the account whose shares the tunnel uses, the same for all of its tunnels and of its service accounts'. */
  owner_account: Schema.NullOr(Hex64).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
}) {}
