/** Through the tunnel against straight to the origin, in turns within one run. */
import { httpOrigin } from "@catenet/testing/stack/e2e/Origins"
import type { Stack } from "@catenet/testing/stack/e2e/Stack"
import { provision, serve } from "../test/e2e/Tunnel.ts"
import { inTurns } from "./InTurns.ts"
import * as Load from "./Load.ts"
import { percentile, type Row } from "./Report.ts"

const seconds = 2

export const rows = async (stack: Stack): Promise<ReadonlyArray<Row>> => {
  const origin = await httpOrigin()
  const tunnel = await provision(stack, "bench.catenet.localhost", origin.port)
  const agent = await serve(stack, tunnel)
  const through: Load.Aim = { port: stack.ports.frontDoor, servername: tunnel.hostname, ca: stack.root }
  const straight: Load.Aim = { port: origin.port }
  await Load.requests(through, 16, 1000)

  const result: Array<Row> = []
  for (const inFlight of [1, 64]) {
    const seen: { through: Array<number>; straight: Array<number> } = { through: [], straight: [] }
    const measure = (aim: Load.Aim, latencies: Array<number>) => async () => {
      const rate = await Load.requests(aim, inFlight, seconds * 1000)
      latencies.push(...rate.latencies)
      return rate.perSecond
    }
    const { first, ratio } = await inTurns(measure(through, seen.through), measure(straight, seen.straight))
    const against = "straight to the origin"
    result.push({ name: `requests, ${inFlight} in flight`, value: first, unit: "/s", ratio, against })
    for (const share of [0.5, 0.99]) {
      const value = percentile(seen.through, share)
      const name = `  p${share * 100}`
      result.push({ name, value, unit: "ms", ratio: value / percentile(seen.straight, share), against })
    }
  }
  for (const connections of [1, 16]) {
    const size = Math.ceil(256 / connections)
    const { first, ratio } = await inTurns(
      () => Load.megabytesPerSecond(through, connections, size),
      () => Load.megabytesPerSecond(straight, connections, size)
    )
    const name = `download on ${connections} connection${connections === 1 ? "" : "s"}`
    result.push({ name, value: first, unit: "MB/s", ratio, against: "straight to the origin" })
  }
  const fresh = await inTurns(
    () => Load.connectionsPerSecond(through, 32, seconds * 1000),
    () => Load.connectionsPerSecond(straight, 32, seconds * 1000)
  )
  result.push({
    name: "new connections (TLS at the edge)",
    value: fresh.first,
    unit: "/s",
    ratio: fresh.ratio,
    against: "straight TCP to the origin"
  })
  await agent.stop()
  await origin.close()
  return result
}
