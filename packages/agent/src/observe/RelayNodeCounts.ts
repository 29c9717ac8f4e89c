/** The counters of a relay node and their series in `/metrics`. */
import type { Family } from "@catenet/platform/PrometheusText"

export interface RelayNodeCounts {
  readonly connections: number
  readonly waiting: number
  readonly sessions: number
  readonly begun: number
  readonly bytes: number
  readonly refused: number
  readonly expired: number
  readonly shed: number
}

type Row = readonly [name: string, type: "counter" | "gauge", help: string, read: (counts: RelayNodeCounts) => number]

const rows: ReadonlyArray<Row> = [
  ["connections", "gauge", "Connections to this relay node.", ({ connections }) => connections],
  ["waiting", "gauge", "Members that wait for a peer.", ({ waiting }) => waiting],
  ["sessions", "gauge", "Pairs of members that are relayed now.", ({ sessions }) => sessions],
  ["sessions_total", "counter", "Pairs of members that were relayed.", ({ begun }) => begun],
  ["bytes_total", "counter", "Bytes relayed between members.", ({ bytes }) => bytes],
  ["refused_total", "counter", "Members that were refused.", ({ refused }) => refused],
  ["expired_total", "counter", "Members that were sent away because no peer came.", ({ expired }) => expired],
  ["shed_total", "counter", "Connections closed because there were as many as may be.", ({ shed }) => shed]
]

/** None in a process that is no relay node. */
export const families = (
  counts: RelayNodeCounts | undefined
): ReadonlyArray<Extract<Family, { type: "counter" | "gauge" }>> =>
  counts === undefined
    ? []
    : rows.map(([name, type, help, read]) => ({
        name: `ct_agent_relay_node_${name}`,
        type,
        help,
        samples: [{ value: read(counts) }]
      }))
