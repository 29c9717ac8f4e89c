/**
 * The mesh plane from `ct-agent connect` to the origin: one TLS connection, one rendezvous and one Noise session for each
 * local connection, against the same connections without anything between.
 */
import { join } from "node:path"
import type { Aim } from "../Load.ts"
import { freePorts } from "../../test/e2e/Stack.ts"
import { percentile, type Row } from "../Report.ts"
import * as Closed from "./Closed.ts"
import { inTurns } from "../InTurns.ts"
import { Relay } from "./Relay.ts"

const millis = 1500
const megabytes = 128
const rounds = 3
const against = "straight TCP"

/** A mesh agent and the program on the client's side; resolves with where local clients connect. */
const openMesh = async (relay: Relay): Promise<Aim> => {
  const tunnel = await relay.tunnel("mesh", "gruen")
  const capability = join(relay.folder, "capability.bin")
  await relay.agent(tunnel, relay.ports.mesh, {
    CT_AGENT_MODE: "",
    CT_AGENT_HOSTNAME: "",
    CT_AGENT_ORIGIN: `127.0.0.1:${relay.origin.said.plain}`,
    CT_AGENT_CAPABILITY_OUT: capability
  })
  const port = (await freePorts()).demoOrigin
  const args = ["connect", "--capability", capability, "--listen", `127.0.0.1:${port}`]
  const client = relay.run(args, { CT_AGENT_EDGE_CERT: join(relay.folder, "edge-cert.der") })
  await client.printed("listening on")
  return { port }
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const relay = await Relay.make()
  try {
    const [through, straight] = [await openMesh(relay), { port: relay.origin.said.plain }]
    const result: Array<Row> = []
    for (const connections of [1, 16, 64]) {
      const latencies: Array<number> = []
      const { first, ratio } = await inTurns(
        async () => {
          const rate = await Closed.requests(through, connections, millis)
          for (const latency of rate.latencies) latencies.push(latency)
          return rate.perSecond
        },
        async () => (await Closed.requests(straight, connections, millis)).perSecond,
        rounds
      )
      const times = `p50 ${percentile(latencies, 0.5).toFixed(2)} ms, p99 ${percentile(latencies, 0.99).toFixed(2)} ms`
      result.push({ name: `requests on ${connections}`, value: first, unit: `/s  ${times}`, ratio, against })
    }
    for (const direction of ["down", "up"] as const)
      for (const connections of [1, 16]) {
        const measure = (aim: Aim) => () => Closed.megabytesPerSecond(aim, connections, megabytes, direction)
        const { first, ratio } = await inTurns(measure(through), measure(straight), rounds)
        result.push({ name: `${direction} on ${connections}`, value: first, unit: "MB/s", ratio, against })
      }
    return result
  } finally {
    await relay.dispose()
  }
}
