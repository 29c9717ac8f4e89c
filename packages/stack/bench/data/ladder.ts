/** A constant rate of requests that rises from 500 to 8,000 a second: latencies of each step, and where it no longer holds. */
import { percentile, type Row } from "../Report.ts"
import * as Open from "./Open.ts"
import { Relay } from "./Relay.ts"

const steps = [500, 1000, 2000, 3000, 4000, 6000, 8000]
const millis = 4000
const connections = 64
/** A step holds when nearly everything was answered in its time and the slowest hundredth waited no longer than this. */
const enough = 0.99
const slowest = 250

const rowOf = (name: string, perSecond: number, { answered, due, latencies }: Open.Step) => {
  const at = (share: number) => percentile(latencies, share)
  const holds = answered >= due * enough && at(0.99) <= slowest
  const times = [0.5, 0.95, 0.99].map((share) => `p${share * 100} ${at(share).toFixed(2)}`).join(", ")
  const row: Row = {
    name: `${perSecond}/s due, ${name}`,
    value: (answered * 1000) / millis,
    unit: `/s answered  ${times} ms${holds ? "" : "  DOES NOT HOLD"}`
  }
  return { holds, row }
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const relay = await Relay.make()
  try {
    const tunnel = await relay.tunnel("ladder", "gelb")
    await relay.agent(tunnel, relay.ports.mesh, { CT_AGENT_ORIGIN: `127.0.0.1:${relay.origin.said.plain}` })
    const straight = { port: relay.origin.said.tls, servername: tunnel.host, ca: relay.ca }
    await Open.step(tunnel.aim, 500, 1000, connections)
    const ways = [
      { name: "gelb, mux", aim: tunnel.aim, climbing: true },
      { name: "straight, TLS", aim: straight, climbing: true }
    ]
    const result: Array<Row> = []
    for (const perSecond of steps)
      for (const way of ways) {
        if (!way.climbing) continue
        const climb = async () => rowOf(way.name, perSecond, await Open.step(way.aim, perSecond, millis, connections))
        const first = await climb()
        // Once more, since what else the machine did for a moment says nothing about the tunnel.
        const { holds, row } = first.holds ? first : await climb()
        way.climbing = holds
        result.push(row)
      }
    return result
  } finally {
    await relay.dispose()
  }
}
