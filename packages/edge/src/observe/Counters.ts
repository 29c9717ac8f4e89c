/** The edge's counters, as plain numbers that the hot path increments. Names follow data-plane 13. */
import { Context, Layer } from "effect"

const zero = () => ({
  registrations: 0,
  relays: 0,
  failovers: 0,
  frontDoorAborts: 0,
  accessWindowRefusals: 0,
  visitorsOfUnknownHosts: 0,
  visitorsOfOfflineTunnels: 0,
  /** Refused because their tunnel or the edge was at its cap. */
  visitorsOfFullTunnels: 0,
  visitorsOfFullEdge: 0,
  /** Closed to make room, because their address held the most places. */
  visitorsEvicted: 0,
  handshakesFailed: 0,
  registrationsRefused: 0,
  fallbackParks: 0,
  fallbackDeliveries: 0,
  fallbackLost: 0,
  /** Slots of unnamed tunnels closed for newer ones. */
  parksEvicted: 0,
  relaysCut: 0,
  visitorsToPeers: 0,
  visitorsFromPeers: 0,
  /** Connections to other edges that failed or were refused. */
  peerDialsFailed: 0,
  /** Bytes from visitors to agents and back, while they flow. */
  bytesToAgents: 0,
  bytesToVisitors: 0,
  /** The same bytes in both directions together, by purpose. */
  bytesOf: { browser: 0, dataplane: 0, tcp_fallback: 0 },
  /** Requests that rules of a tunnel refused. */
  refusedBy: { allow: 0, require_login: 0, rate_limit: 0, basic_auth: 0, max_body: 0 },
  /** Errors thrown by callbacks of connections. */
  connectionFaults: 0,
  /** HTTP/2 connections closed because their address block reset too many streams of the tunnel. */
  resetBudgetsExceeded: 0,
  rendezvous: 0,
  rendezvousRefused: 0,
  /** Members that began to wait, by dialect. */
  channelParkLegsKeepAlive: 0,
  channelParkLegsPlain: 0,
  channelParksReaped: 0,
  channelParksSuperseded: 0,
  /** Pairs that only exchanged addresses. */
  channelRendezvousPairs: 0,
  channelSplices: 0,
  channelSessionsCut: 0,
  channelRelayBytes: 0,
  /** Members connected to the relay node, and those for whom it was unreachable. */
  relayGateSessions: 0,
  relayNodeUnreachable: 0,
  /** WebSockets refused at the cap. */
  webSocketSheds: 0,
  /** Connections closed because of too many guesses from their address. */
  channelPenaltySheds: 0,
  /** Results of checking advertised addresses. */
  endpointsMatching: 0,
  endpointsOfOtherFamily: 0,
  endpointsMismatching: 0,
  endpointsWithoutAddress: 0,
  endpointsUnobservable: 0
})

export class Counters extends Context.Service<Counters, ReturnType<typeof zero>>()("edge/observe/Counters") {
  static readonly layer = Layer.sync(Counters, zero)
}

type Counted = Counters["Service"]

const kinds = ["browser", "dataplane", "tcp_fallback"] as const
const rules = ["allow", "require_login", "rate_limit", "basic_auth", "max_body"] as const
const plain = (counters: Counted) => {
  const { bytesOf: _bytesOf, refusedBy: _refusedBy, ...numbers } = counters
  return numbers
}
type Plain = keyof ReturnType<typeof plain>

const isPlain = (counters: Counted, name: string): name is Plain =>
  Object.hasOwn(counters, name) && name !== "bytesOf" && name !== "refusedBy"

/** All counters by name, for another process. */
export const flat = (counters: Counted): Record<string, number> => ({
  ...plain(counters),
  ...Object.fromEntries(kinds.map((kind) => [`bytesOf.${kind}`, counters.bytesOf[kind]])),
  ...Object.fromEntries(rules.map((rule) => [`refusedBy.${rule}`, counters.refusedBy[rule]]))
})

/** Adds the counters of another process, by the names of {@link flat}. */
export const add = (counters: Counted, counted: Readonly<Record<string, number>>): void => {
  for (const [name, value] of Object.entries(counted)) if (isPlain(counters, name)) counters[name] += value
  for (const kind of kinds) counters.bytesOf[kind] += counted[`bytesOf.${kind}`] ?? 0
  for (const rule of rules) counters.refusedBy[rule] += counted[`refusedBy.${rule}`] ?? 0
}
