/**
 * The twelve series of `/metrics` in the contract's order (Prometheus text format 0.0.4), followed by connection errors, channel
 * sessions and relay node counts if there are any.
 */
import { type Family as AnyFamily, render as text } from "@catenet/platform/PrometheusText"
import {
  type AgentMetrics,
  type ChannelCarrier,
  type ChannelCounts,
  channelStates,
  type Pair,
  type Traffic,
  type Transport,
  transports
} from "./AgentMetrics.ts"
import { type EventKind, eventKinds } from "./Events.ts"
import { families as ofRelayNode, type RelayNodeCounts } from "./RelayNodeCounts.ts"

type Family = Exclude<AnyFamily, { readonly type: "histogram" }>

export interface Sample {
  readonly traffic: Traffic
  readonly registered: boolean
  readonly transport: Transport
  readonly events: ReadonlyMap<EventKind, number>
  readonly tasksLive: number
  readonly faults: number
  readonly refusals: ReadonlyMap<string, number>
  readonly toolCalls: AgentMetrics["Service"]["toolCalls"]
  readonly channels: ReadonlyMap<ChannelCarrier, ChannelCounts>
  readonly keyExchanges: ReadonlyMap<string, ChannelCounts>
  readonly meshKeyExchanges: ReadonlyMap<string, ChannelCounts>
  readonly pairs: ReadonlyArray<Pair>
  readonly relayNode: RelayNodeCounts | undefined
}

const series = (name: string, type: "counter" | "gauge", help: string, value: number | Family["samples"]): Family => ({
  name,
  type,
  help,
  samples: typeof value === "number" ? [{ value }] : value
})

const ofChannels = (channels: Sample["channels"], count: keyof ChannelCounts): Family["samples"] =>
  Array.from(channels, ([carrier, counts]) => ({ labels: { carrier }, value: counts[count] }))

const ofKeyExchanges = (counted: ReadonlyMap<string, ChannelCounts>): Family["samples"] =>
  Array.from(counted, ([name, { total }]) => ({ labels: { key_exchange: name }, value: total }))

const pairStates = ["in-session", ...channelStates] as const

/** The states of a room's pairs, all of them if there is one. */
const ofPairs = (pairs: Sample["pairs"]): Family["samples"] =>
  pairs.length === 0
    ? []
    : pairStates.map((state) => ({ labels: { state }, value: pairs.filter((pair) => pair.state === state).length }))

/** The body of `/metrics`; ends with a newline. */
export const render = ({
  channels,
  keyExchanges,
  meshKeyExchanges,
  pairs,
  traffic,
  registered,
  transport,
  events,
  faults,
  refusals,
  relayNode,
  tasksLive,
  toolCalls
}: Sample): string =>
  text([
    series("ct_tunnels_opened_total", "counter", "Streams that reached the origin.", traffic.tunnelsOpened),
    series("ct_tunnels_failed_total", "counter", "Streams that did not reach the origin.", traffic.tunnelsFailed),
    series("ct_bytes_to_origin_total", "counter", "Bytes from clients to the origin.", traffic.bytesToOrigin),
    series("ct_bytes_to_client_total", "counter", "Bytes from the origin to clients.", traffic.bytesToClient),
    series("ct_handshakes_total", "counter", "Noise and TLS handshakes completed here.", traffic.handshakes),
    series("ct_handshake_millis_total", "counter", "Milliseconds spent in them.", Math.round(traffic.handshakeMillis)),
    series("ct_agent_registered", "gauge", "1 while the edge holds a registration of this agent.", registered ? 1 : 0),
    series("ct_agent_reconnects_total", "counter", "Registrations after the first.", traffic.reconnects),
    series(
      "ct_agent_transport",
      "gauge",
      "1 for the transport in use.",
      transports.map((name) => ({ labels: { transport: name }, value: name === transport ? 1 : 0 }))
    ),
    series(
      "ct_agent_events_total",
      "counter",
      "Events by kind.",
      eventKinds.map((kind) => ({ labels: { kind }, value: events.get(kind) ?? 0 }))
    ),
    series("ct_agent_masque_dropped_datagrams_total", "counter", "Datagrams dropped by the MASQUE carrier.", [
      { labels: { direction: "outbound" }, value: 0 },
      { labels: { direction: "inbound" }, value: 0 }
    ]),
    series("ct_agent_tasks_live", "gauge", "Streams being served.", tasksLive),
    series(
      "ct_agent_connection_faults_total",
      "counter",
      "Callbacks that failed and ended their connection.",
      faults === 0 ? [] : faults
    ),
    series(
      "ct_agent_rule_refusals_total",
      "counter",
      "Requests refused by rules of the tunnel.",
      Array.from(refusals, ([rule, value]) => ({ labels: { rule }, value }))
    ),
    series(
      "ct_agent_tool_calls_total",
      "counter",
      "Calls of this member's tools by how they ended.",
      Array.from(toolCalls.byOutcome, ([outcome, value]) => ({ labels: { outcome }, value }))
    ),
    series(
      "ct_agent_tool_call_millis_total",
      "counter",
      "Milliseconds that they took.",
      toolCalls.byOutcome.size === 0 ? [] : toolCalls.millis
    ),
    series(
      "ct_agent_tool_call_bytes_total",
      "counter",
      "Bytes of their answers.",
      toolCalls.byOutcome.size === 0 ? [] : toolCalls.bytes
    ),
    series(
      "ct_agent_channel_sessions_total",
      "counter",
      "Sessions of channels by what carried them.",
      ofChannels(channels, "total")
    ),
    series("ct_agent_channel_sessions_open", "gauge", "Those that are open.", ofChannels(channels, "open")),
    series(
      "ct_agent_channel_key_exchanges_total",
      "counter",
      "Sessions of channels by their key exchange.",
      ofKeyExchanges(keyExchanges)
    ),
    series(
      "ct_agent_mesh_key_exchanges_total",
      "counter",
      "Sessions of mesh clients by their key exchange.",
      ofKeyExchanges(meshKeyExchanges)
    ),
    series("ct_agent_channel_pairs", "gauge", "Pairs of a room by their state.", ofPairs(pairs)),
    ...ofRelayNode(relayNode)
  ])
