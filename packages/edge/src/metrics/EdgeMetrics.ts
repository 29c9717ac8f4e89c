/** The edge's figures in the text format of Prometheus. All names begin with `ct_edge_` (data-plane 13). */
import { render as text } from "@catenet/platform/PrometheusText"
import { originVerdicts } from "@catenet/wire/frames/MuxEcho"
import type { ChannelPlacement } from "../channels/ChannelPlacement.ts"
import type { ChannelRoom } from "../channels/ChannelRoom.ts"
import type { MemberAdmissions } from "../channels/MemberAdmissions.ts"
import type { WebSocketMembers } from "../channels/WebSocketMembers.ts"
import type { SlotProtocol } from "../frontdoor/SlotProtocol.ts"
import type { ConnectionLimiter, ShedReason } from "../listen/ConnectionLimiter.ts"
import type { TcpListener } from "../listen/TcpListener.ts"
import type { Counters } from "../observe/Counters.ts"
import type { WorkerStats } from "../processes/WorkerStats.ts"
import type { Relays } from "../relay/Relays.ts"
import type { AgentSessions } from "../sessions/AgentSessions.ts"
import type { MuxAgents } from "../sessions/MuxAgents.ts"
import type { OriginEchoes } from "../sessions/OriginEchoes.ts"
import { channelFamilies } from "./ChannelMetrics.ts"
import { type Sample, counter, gauge } from "./MetricFamily.ts"

export interface Sources {
  readonly counters: Counters["Service"]
  readonly agents: AgentSessions["Service"]
  readonly slotProtocol: SlotProtocol["Service"]
  readonly muxAgents: MuxAgents["Service"]
  readonly relays: Relays["Service"]
  readonly admissions: MemberAdmissions["Service"]
  readonly homes: ChannelPlacement["Service"]
  readonly room: ChannelRoom["Service"]
  readonly webSockets: WebSocketMembers["Service"]
  readonly echoes: Pick<OriginEchoes["Service"], "reach" | "answers">
  readonly limiter: ConnectionLimiter
  /** Totals of the other processes of this edge. */
  readonly workerStats: WorkerStats["Service"]
  readonly visitors: () => number
  readonly listeners: ReadonlyArray<Pick<TcpListener, "name">>
  /** Epoch milliseconds of the last proof that a listener accepts, by name. */
  readonly lastAccepted: ReadonlyMap<string, number>
  /** Epoch milliseconds since when a listener is expected. */
  readonly expectedSince: ReadonlyMap<string, number>
}

/** Series that exist from the start, so that their first increase can be detected. */
const noSheds: Readonly<Record<ShedReason, number>> = { connections: 0, address: 0, descriptors: 0 }

const echoVerdicts = [...originVerdicts, "silence"]

/** Current sums over all tunnels. */
const totals = ({ agents, echoes, workerStats }: Pick<Sources, "agents" | "echoes" | "workerStats">) => {
  const sums = { tunnels: 0, known: 0, registrations: 0, parked: workerStats.parked() }
  const reach = { up: 0, connected: 0, origin_silent: 0, agent_silent: 0 }
  for (const tunnel of agents.all()) {
    sums.known += 1
    if (tunnel.connected) {
      const { state } = echoes.reach(tunnel)
      sums.tunnels += 1
      if (state !== "edge_silent") reach[state] += 1
    }
    sums.registrations += tunnel.registrations
    sums.parked += tunnel.parked
  }
  return { ...sums, reach }
}

/** The whole exposition. */
export const render = (sources: Sources): string => {
  const { workerStats, counters, expectedSince, limiter, relays, listeners, lastAccepted } = sources
  const sums = totals(sources)
  const direction = (value: number, to: string): Sample => [value, { direction: to }]
  return text([
    gauge("active_tunnels", "Tunnels with at least one agent.", [sums.tunnels]),
    gauge(
      "tunnel_reach",
      "Tunnels with an agent, by what the echo through agent and origin finds.",
      ...Object.entries(sums.reach).map(([state, value]): Sample => [value, { state }])
    ),
    counter(
      "echoes_total",
      "Echoes that agents were asked for, by their answer.",
      ...echoVerdicts.map((verdict): Sample => [sources.echoes.answers().get(verdict) ?? 0, { verdict }])
    ),
    gauge("tunnel_history_tracked_tokens", "Tunnels that are remembered, with agents or without.", [sums.known]),
    gauge("active_agents", "Multiplexed registrations and parked slots.", [sums.registrations + sums.parked]),
    gauge("agent_connections", "Multiplexed agent connections.", [
      sources.muxAgents.open() + workerStats.sum("agentConnections")
    ]),
    gauge("visitor_connections", "Connections of visitors.", [sources.visitors() + workerStats.sum("visitors")]),
    gauge("connections", "All connections of the public listeners.", [limiter.open() + workerStats.sum("connections")]),
    gauge("active_relays", "Relays that run.", [relays.active() + workerStats.sum("relays")]),
    counter("registrations_total", "Registrations accepted.", [counters.registrations]),
    counter("registrations_refused_total", "Registrations refused.", [counters.registrationsRefused]),
    counter("relays_total", "Relays started.", [counters.relays]),
    counter("relays_cut_total", "Relays cut by revocation, a closing window or the end of the process.", [
      counters.relaysCut
    ]),
    counter("relay_bytes_total", "Bytes relayed, counted while they flow.", [
      counters.bytesToAgents + counters.bytesToVisitors
    ]),
    counter(
      "relay_bytes_direction_total",
      "Bytes relayed by direction.",
      direction(counters.bytesToAgents, "to_agent"),
      direction(counters.bytesToVisitors, "to_visitor")
    ),
    counter(
      "relay_bytes_kind_total",
      "Bytes relayed by what for.",
      ...Object.entries(counters.bytesOf).map(([kind, value]): Sample => [value, { kind }])
    ),
    counter("failovers_total", "Agents passed over for a visitor.", [counters.failovers]),
    gauge("tcp_fallback_parked", "Slots parked now.", [sums.parked]),
    counter("tcp_fallback_parks_total", "Slots parked.", [counters.fallbackParks]),
    counter("tcp_fallback_reaped_total", "Parked slots lost.", [counters.fallbackLost]),
    counter(
      "unnamed_parks_evicted_total",
      "Parked slots and agent connections of tunnels without a name closed for newer ones.",
      [counters.parksEvicted]
    ),
    counter("tcp_fallback_deliveries_total", "Visitors given to slots.", [counters.fallbackDeliveries]),
    counter("front_door_client_aborts_total", "Connections without a whole, valid ClientHello.", [
      counters.frontDoorAborts
    ]),
    counter("tls_handshakes_failed_total", "TLS handshakes that failed.", [counters.handshakesFailed]),
    counter("unknown_host_total", "Visitors of unknown hosts.", [counters.visitorsOfUnknownHosts]),
    counter("full_tunnel_total", "Visitors of tunnels that had as many as they may.", [counters.visitorsOfFullTunnels]),
    counter("full_edge_total", "Visitors of an edge that had as many as it may.", [counters.visitorsOfFullEdge]),
    counter("visitors_evicted_total", "Visitors closed for one of an address that held fewer places.", [
      counters.visitorsEvicted
    ]),
    counter("offline_tunnel_total", "Visitors of tunnels without an agent.", [counters.visitorsOfOfflineTunnels]),
    counter(
      "peer_visitors_total",
      "Visitors relayed between edges.",
      direction(counters.visitorsToPeers, "to_peer"),
      direction(counters.visitorsFromPeers, "from_peer")
    ),
    counter("peer_dials_failed_total", "Connections to other edges that failed, or were refused there.", [
      counters.peerDialsFailed
    ]),
    counter("rendezvous_total", "Mesh clients given to agents.", [counters.rendezvous]),
    counter("rendezvous_refused_total", "Mesh clients dropped: proof, tunnel or rate.", [counters.rendezvousRefused]),
    counter("access_window_refused_total", "Visitors outside the access window.", [counters.accessWindowRefusals]),
    counter(
      "rule_refused_total",
      "Requests refused by rules of tunnels.",
      ...Object.entries(counters.refusedBy).map(([rule, value]): Sample => [value, { rule }])
    ),
    ...channelFamilies(sources),
    counter("rapid_reset_closed_total", "HTTP/2 connections closed for the streams that they reset.", [
      counters.resetBudgetsExceeded
    ]),
    counter("connection_faults_total", "Callbacks that failed and ended their connection.", [
      counters.connectionFaults
    ]),
    counter(
      "listener_conn_cap_sheds_total",
      "Connections turned away at accept.",
      ...listeners.flatMap(({ name }) =>
        Object.entries({ ...noSheds, ...limiter.sheds.get(name) }).map(([reason, value]): Sample => [
          value,
          { listener: name, reason }
        ])
      )
    ),
    gauge(
      "listener_loop_expected_since_seconds",
      "Epoch seconds since which a listener has to accept.",
      ...listeners.map(({ name }): Sample => [Math.floor((expectedSince.get(name) ?? 0) / 1_000), { listener: name }])
    ),
    gauge(
      "listener_loop_health_gating",
      "Whether a listener that stalls makes the edge unhealthy.",
      ...listeners.map(({ name }): Sample => [1, { listener: name }])
    ),
    gauge(
      "listener_loop_last_seen_seconds",
      "Epoch seconds of the last proof that a listener accepts.",
      ...listeners.map(({ name }): Sample => [Math.floor((lastAccepted.get(name) ?? 0) / 1_000), { listener: name }])
    )
  ])
}
