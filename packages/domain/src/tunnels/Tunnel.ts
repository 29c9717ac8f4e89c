/** A tunnel: a public host name that its owner's agent serves. */
import { Effect, Schema } from "effect"
import type { PortProtocol } from "../edges/PublicPort.ts"
import { AgentProof, TunnelOptions, TunnelOptionsChange } from "../edges/TunnelOptions.ts"
import { AgentId } from "../enrollment/AgentStatus.ts"
import { TunnelHostname } from "../values/Hostname.ts"
import { Subject, TunnelId } from "../values/Ids.ts"
import { Port, UnixSeconds } from "../values/Numbers.ts"
import { literal } from "../values/Pattern.ts"
import { label } from "../values/Text.ts"
import { JoinToken, RoutingToken } from "../values/Tokens.ts"
import { HostnameProof } from "./HostnameOwnership.ts"

/**
 * Where visitors reach a tunnel.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { publicAddress } from "@catenet/domain/tunnels/Tunnel"
 *
 * strictEqual(publicAddress("photos.example.net", 443), "https://photos.example.net/")
 * strictEqual(publicAddress("photos.localhost", 8443), "https://photos.localhost:8443/")
 * ```
 */
export const publicAddress = (hostname: string, port: number): string =>
  `https://${hostname}${port === 443 ? "" : `:${port}`}/`

/**
 * `rot`: not served. `gelb`: served by the edge with a shared certificate, waiting for its own. `gruen`: the agent holds
 * its own certificate and the edge passes TLS through.
 */
export const TunnelStatus = Schema.Literals(["rot", "gelb", "gruen"])
export type TunnelStatus = typeof TunnelStatus.Type

/** Characters of a tunnel's name. */
export const maxTunnelName = 60

/** The display name that its owner gave it. */
export const TunnelName = label(maxTunnelName).pipe(Schema.brand("TunnelName"))
export type TunnelName = typeof TunnelName.Type

/** Whether and how the operator's bridge may reach the agent behind a tunnel. */
export const BridgeMode = literal(["off", "ephemeral", "permanent"])
export type BridgeMode = typeof BridgeMode.Type

/** `http`: reached by a host name. `tcp`, `udp`: reached at a public port of the edges, or with `tls` at a host name. */
export const TunnelKind = literal(["http", "tcp", "udp"])
export type TunnelKind = typeof TunnelKind.Type

/**
 * Where the public reaches a tunnel that has a port.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { portAddress } from "@catenet/domain/tunnels/Tunnel"
 *
 * strictEqual(portAddress("tcp", "tcp.example.net", 20022), "tcp://tcp.example.net:20022")
 * ```
 */
export const portAddress = (protocol: PortProtocol, host: string, port: number): string =>
  `${protocol}://${host}:${port}`

/**
 * Where the public reaches a tunnel of kind tcp by TLS; `port` is the port of all host names.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { tlsAddress } from "@catenet/domain/tunnels/Tunnel"
 *
 * strictEqual(tlsAddress("db.example.net", 443), "tls://db.example.net:443")
 * ```
 */
export const tlsAddress = (hostname: string, port: number): string => `tls://${hostname}:${port}`

/** As its owner sees it; the routing token is not part of it. */
export class Tunnel extends Schema.Class<Tunnel>("Tunnel")({
  id: TunnelId,
  name: TunnelName,
  hostname: Schema.NullOr(TunnelHostname),
  /**
   * Of a host name that its owner brought; null where there is none, or the platform or an operator gave it. Null stands
   * first, because the class is tried at length before null is: that doubled the time of writing a tunnel.
   */
  hostname_proof: Schema.Union([Schema.Null, HostnameProof]),
  status: TunnelStatus,
  claim_deadline: Schema.NullOr(UnixSeconds),
  require_login: Schema.Boolean,
  allow_any_login: Schema.Boolean,
  bridge_mode: BridgeMode,
  owned: Schema.Boolean,
  created_at: UnixSeconds,
  kind: TunnelKind.pipe(Schema.withDecodingDefaultKey(Effect.succeed("http" as const))),
  /** The public port; null for a tunnel that is reached by a host name. */
  port: Schema.NullOr(Port).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  /** The host name at which the port is reached; null without a port. */
  port_host: Schema.NullOr(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  agent_proof: AgentProof.pipe(Schema.withDecodingDefaultKey(Effect.succeed("optional" as const))),
  ...TunnelOptions.fields
}) {}

/** A tunnel as operators see it, whosever it is. Its routing token is the owner's. */
export class TunnelOfSubject extends Schema.Class<TunnelOfSubject>("TunnelOfSubject")({
  id: TunnelId,
  subject: Subject,
  name: Schema.String,
  hostname: Schema.NullOr(TunnelHostname),
  created_at: UnixSeconds
}) {}

/**
 * Where visitors reach it; `hostsPort` is the port of all host names. Undefined where they cannot.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { addressOf } from "@catenet/domain/tunnels/Tunnel"
 *
 * const ssh = { hostname: null, kind: "tcp", port: 20022, port_host: "tcp.example.net", tls: false } as const
 * strictEqual(addressOf(ssh as never, 443), "tcp://tcp.example.net:20022")
 * ```
 */
export const addressOf = (
  { hostname, kind, port, port_host, tls }: Pick<Tunnel, "hostname" | "kind" | "port" | "port_host" | "tls">,
  hostsPort: number
): string | undefined => {
  if (hostname !== null) return (tls ? tlsAddress : publicAddress)(hostname, hostsPort)
  return kind === "http" || port === null || port_host === null ? undefined : portAddress(kind, port_host, port)
}

/** What changes when an owner edits a tunnel; an absent member stays as it is. */
export class TunnelChange extends Schema.Class<TunnelChange>("TunnelChange")({
  name: Schema.optionalKey(TunnelName),
  require_login: Schema.optionalKey(Schema.Boolean),
  allow_any_login: Schema.optionalKey(Schema.Boolean),
  /** Lets agents in that cannot prove an enrolled key. The routing token is then all that is needed to serve. */
  allow_unproved_agents: Schema.optionalKey(Schema.Boolean),
  ...TunnelOptionsChange.fields
}) {}

/** The routing token that a tunnel has from now on. */
export class RotatedToken extends Schema.Class<RotatedToken>("RotatedToken")({ routing_token: RoutingToken }) {}

/** What an agent needs to serve a tunnel; every such answer holds a fresh join token. */
export class Installation extends Schema.Class<Installation>("Installation")({
  join_token: JoinToken,
  routing_token: RoutingToken,
  agent_id: AgentId,
  control_plane_url: Schema.String,
  edge: Schema.String,
  hostname: Schema.NullOr(TunnelHostname),
  /** Where visitors reach the tunnel; absent where it has neither a host name nor a port. */
  public_url: Schema.optionalKey(Schema.String)
}) {}
