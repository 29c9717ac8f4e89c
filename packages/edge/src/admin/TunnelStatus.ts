/** The status of a tunnel as the admin API words it. A token that was never used reports as not connected. */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import { maxVersions, TunnelStatusReport } from "@catenet/domain/tunnels/TunnelTraffic"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import type { AgentPool } from "../sessions/AgentPool.ts"

const seconds = (millis: number | undefined) => (millis === undefined ? null : UnixSeconds.make(toUnixSeconds(millis)))

/** How many of the tunnels have at least one agent. */
export const activeIn = (tunnels: Iterable<AgentPool>): number => {
  let active = 0
  for (const tunnel of tunnels) if (tunnel.connected) active += 1
  return active
}

const versionsOf = (tunnel: AgentPool | undefined) => {
  const known = Array.from(tunnel?.muxes ?? [], ({ version }) => version).filter((version) => version !== undefined)
  return known.length === 0 ? {} : { agent_versions: [...new Set(known)].toSorted().slice(0, maxVersions) }
}

/** `parkedElsewhere` are the slots of the other processes of this edge; `nowMillis` is the moment a connected tunnel was last seen. */
export const statusOf = (
  tunnel: AgentPool | undefined,
  reach: Reachability,
  parkedElsewhere: number,
  nowMillis: number
): TunnelStatusReport =>
  new TunnelStatusReport({
    connected: tunnel?.connected ?? false,
    registrations: tunnel?.registrations ?? 0,
    fallback_parked: (tunnel?.parked ?? 0) + parkedElsewhere,
    bytes_received: tunnel?.traffic.aToB ?? 0,
    bytes_sent: tunnel?.traffic.bToA ?? 0,
    direct: false,
    connected_since: seconds(tunnel?.connectedSince),
    last_seen: seconds(tunnel?.connected === true ? nowMillis : tunnel?.lastSeen),
    reach,
    ...versionsOf(tunnel)
  })
