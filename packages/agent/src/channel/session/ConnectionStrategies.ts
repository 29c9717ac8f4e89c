/** The ways to connect to an edge, in the order in which a member tries them. */
import type { Phase } from "@catenet/crypto/admission/Join"
import type { HostPort } from "../../settings/HostPort.ts"
import type { Meeting } from "../../settings/MemberSettings.ts"
import { standard } from "../../settings/TunnelTransports.ts"

export type StrategyName = "broker" | "relay" | "quic" | "front-door" | "camouflage" | "websocket" | "gate" | "circuit"

export interface ConnectionStrategy {
  readonly name: StrategyName
  readonly address: HostPort
  readonly serverName: string
  readonly alpn: ReadonlyArray<string>
  /** The only trusted root, PEM; undefined checks no certificate. */
  readonly root: string | undefined
  readonly dialMillis: number
  /** A WebSocket at this address, instead of the bytes themselves. */
  readonly url?: URL
}

/** Whether the phase must be sent: the edge's own ports have one each. */
export const asksForPhase = ({ name }: ConnectionStrategy): boolean => name === "front-door" || name === "camouflage"

type Node = NonNullable<Extract<Meeting, { readonly _tag: "Broker" }>["node"]>

const channelProtocols = ["ct-edge-channel-ka", "ct-edge-channel"]
const webProtocols = ["h2", "http/1.1"]
const portMillis = 5_000
const frontDoorMillis = 10_000

/** Whether the edge sends keep-alives with this ALPN protocol and expects a phase marker. */
export const hasKeepalive = (alpn: string | false | null): boolean =>
  alpn === "ct-edge-channel-ka" || alpn === "http/1.1"

/** The peer comes to the relay node too, so nothing else is tried. */
const toNode = ({ address, root, way }: Node): ConnectionStrategy => ({
  name: way,
  address,
  serverName: "localhost",
  alpn: way === "gate" ? ["ct-edge-relay"] : [],
  root,
  dialMillis: frontDoorMillis
})

const overWebSocket = (url: URL, root: string | undefined): ConnectionStrategy => ({
  name: "websocket",
  address: { host: url.hostname, port: Number(url.port || (url.protocol === "wss:" ? 443 : 80)) },
  serverName: url.hostname,
  alpn: [],
  root,
  dialMillis: frontDoorMillis,
  url
})

/** The ladder of a phase. Without a root there are only the edge's own ports. */
export const strategiesFor = (
  {
    broker,
    frontDoor,
    isFrontDoorOnly,
    node,
    relay,
    root,
    transports = standard,
    webSocket
  }: Extract<Meeting, { readonly _tag: "Broker" }>,
  phase: Phase
): ReadonlyArray<ConnectionStrategy> => {
  if (phase === "relay" && node !== undefined) return [toNode(node)]
  const own: ConnectionStrategy = {
    name: phase === "rendezvous" ? "broker" : "relay",
    address: phase === "rendezvous" ? broker : relay,
    serverName: "localhost",
    alpn: channelProtocols,
    root,
    dialMillis: portMillis
  }
  const quic: ConnectionStrategy = { ...own, name: "quic", alpn: [] }
  const last = webSocket === undefined ? [] : [overWebSocket(webSocket, root)]
  const ports = transports.map((transport) => (transport === "tls" ? own : quic))
  if (root === undefined) return [...ports, ...last]
  if (frontDoor === undefined) return [...ports, ...last]
  const door = { address: frontDoor, root, dialMillis: frontDoorMillis }
  return [
    ...(isFrontDoorOnly ? [] : ports),
    { ...door, name: "front-door", serverName: "localhost", alpn: channelProtocols },
    { ...door, name: "camouflage", serverName: "edge-cdn.invalid", alpn: webProtocols },
    ...last
  ]
}
