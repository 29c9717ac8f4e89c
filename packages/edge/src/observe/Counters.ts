/** What the edge counts about itself, as plain numbers that the hot path can add to. Names follow data-plane 13. */
import { Context, Layer } from "effect"

const zero = () => ({
  registrations: 0,
  relays: 0,
  failovers: 0,
  frontDoorAborts: 0,
  accessWindowRefusals: 0,
  visitorsOfUnknownHosts: 0,
  visitorsOfOfflineTunnels: 0,
  handshakesFailed: 0,
  registrationsRefused: 0,
  fallbackParks: 0,
  fallbackDeliveries: 0,
  fallbackLost: 0,
  relaysCut: 0,
  visitorsToPeers: 0,
  visitorsFromPeers: 0,
  /** Bytes from visitors to agents and back, while they flow. */
  bytesToAgents: 0,
  bytesToVisitors: 0,
  /** The same bytes, both ways together, by what they were relayed for. */
  bytesOf: { browser: 0, dataplane: 0, tcp_fallback: 0 },
  rendezvous: 0,
  rendezvousRefused: 0
})

export class Counters extends Context.Service<Counters, ReturnType<typeof zero>>()("edge/observe/Counters") {
  static readonly layer = Layer.sync(Counters, zero)
}
