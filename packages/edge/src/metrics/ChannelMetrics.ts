/** The figures of channels (data-plane 13). */
import type { Family } from "@catenet/platform/PrometheusText"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import type { ChannelPlacement } from "../channels/ChannelPlacement.ts"
import type { ChannelRoom } from "../channels/ChannelRoom.ts"
import { maxAddresses } from "../channels/JoinPenalties.ts"
import type { MemberAdmissions } from "../channels/MemberAdmissions.ts"
import type { WebSocketMembers } from "../channels/WebSocketMembers.ts"
import type { Counters } from "../observe/Counters.ts"
import { counter, gauge, type Sample } from "./MetricFamily.ts"

interface ChannelSources {
  readonly admissions: MemberAdmissions["Service"]
  readonly counters: Counters["Service"]
  readonly homes: ChannelPlacement["Service"]
  readonly room: ChannelRoom["Service"]
  readonly webSockets: WebSocketMembers["Service"]
}

export const channelFamilies = ({
  admissions,
  counters,
  homes,
  room,
  webSockets
}: ChannelSources): ReadonlyArray<Family> => {
  const result = (value: number, result: string): Sample => [value, { result }]
  return [
    gauge("channel_parked", "Members of channels that wait for a peer.", [room.parked()]),
    gauge("channel_peers", "Edges that members can be brought to.", [homes.peers()]),
    gauge("channel_sessions", "Sessions of members that are relayed.", [room.sessions()]),
    counter("channel_relay_bytes_total", "Bytes relayed between members.", [counters.channelRelayBytes]),
    counter("channel_splices_total", "Pairs of members that were given each other's stream.", [
      counters.channelSplices
    ]),
    counter("channel_sessions_cut_total", "Sessions cut because a member may no longer talk.", [
      counters.channelSessionsCut
    ]),
    counter("channel_rendezvous_pairs_total", "Pairs of members that only learned of each other.", [
      counters.channelRendezvousPairs
    ]),
    counter(
      "channel_park_legs_total",
      "Members that came to wait.",
      [counters.channelParkLegsKeepAlive, { keepalive: "true" }],
      [counters.channelParkLegsPlain, { keepalive: "false" }]
    ),
    counter("channel_park_reaped_total", "Members that left without a peer.", [counters.channelParksReaped]),
    counter("channel_park_superseded_total", "Waiting members replaced by newer joins of their own.", [
      counters.channelParksSuperseded
    ]),
    counter(
      "channel_endpoint_attestation_total",
      "Advertised addresses beside the observed ones.",
      result(counters.endpointsMatching, "matches"),
      result(counters.endpointsOfOtherFamily, "cross_family"),
      result(counters.endpointsMismatching, "mismatch"),
      result(counters.endpointsWithoutAddress, "no_address"),
      result(counters.endpointsUnobservable, "unobservable")
    ),
    counter("channel_join_penalty_sheds_total", "Connections closed because their address has guessed too often.", [
      counters.channelPenaltySheds
    ]),
    gauge("channel_join_penalty_tracked_ips", "Addresses whose guesses are counted.", [admissions.trackedAddresses()]),
    gauge("channel_join_penalty_tracked_ips_max", "As many addresses are counted at most.", [maxAddresses]),
    counter("relay_gate_sessions_total", "Members that were let through to the relay node.", [
      counters.relayGateSessions
    ]),
    counter("relay_gate_unreachable_total", "Members that could not be let through because the relay node was gone.", [
      counters.relayNodeUnreachable
    ]),
    gauge("ws_channel_connections", "Members by WebSocket.", [webSockets.open()]),
    gauge("ws_channel_connections_max", "As many WebSockets are open at once at most; 0 for no cap.", [
      webSockets.most
    ]),
    counter("ws_channel_shed_total", "WebSockets refused because there were as many as may be.", [
      counters.webSocketSheds
    ]),
    gauge("channel_broker_loop_last_seen_seconds", "Epoch seconds of the last look at those who wait.", [
      toUnixSeconds(room.lastTick()),
      { loop: "room" }
    ]),
    gauge("channel_broker_loop_expected_since_seconds", "Epoch seconds since which they are looked at.", [
      toUnixSeconds(room.since),
      { loop: "room" }
    ])
  ]
}
