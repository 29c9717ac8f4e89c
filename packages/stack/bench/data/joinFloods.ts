/**
 * The p99 of the joins of honest members while strangers flood the edge, as a ratio to that at rest in the same round, and what the
 * floods leave behind in the memory of the edge. Edge and flooder are processes of their own on this machine.
 */
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import { Flooder } from "@catenet/testing/edge/floods/FlooderProcess"
import { joinLatencies } from "@catenet/testing/edge/floods/JoinLatency"
import { ofMembers } from "@catenet/testing/edge/floods/Kinds"
import { p99 } from "@catenet/testing/edge/floods/Latency"
import { overhear } from "@catenet/testing/edge/floods/Overheard"
import { freePorts } from "@catenet/testing/stack/e2e/Stack"
import { Effect, Exit, Scope } from "effect"
import { residentMegabytes } from "../../test/e2e/Memory.ts"
import { inTurns } from "../InTurns.ts"
import type { Row } from "../Report.ts"
import { Relay } from "./Relay.ts"

const millis = 1500
/** What an address may open at once is over by then. */
const settledMillis = 500
const rounds = 5

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const life = await Effect.runPromise(Scope.make())
  const controlPlane = await Effect.runPromise(startControlPlane.pipe(Scope.provide(life)))
  const webSocket = (await freePorts()).acme
  const relay = await Relay.make({
    CT_EDGE_CP_URL: controlPlane.url,
    CT_EDGE_WS_CHANNEL_LISTEN: `127.0.0.1:${webSocket}`,
    CT_EDGE_RELAY_UPSTREAM: "127.0.0.1:1",
    CT_EDGE_RELAY_NODE_PEER: "node"
  })
  const { frontDoor, mesh } = relay.ports
  const place = { controlPlane, frontDoor, meshRoot: relay.meshRoot }
  const flooder = await Flooder.start({
    frontDoor,
    mesh,
    webSocket,
    visitorRoot: relay.ca,
    agentRoot: relay.meshRoot,
    host: "flooded.bench.localhost",
    member: await overhear(place),
    yields: true
  })
  try {
    const edge = relay.edge.child.pid ?? -1
    const measure = async () => p99(await joinLatencies(place, millis))
    const settled = async () => {
      await new Promise((resolve) => setTimeout(resolve, settledMillis))
      return measure()
    }
    await measure()
    const result: Array<Row> = []
    let before = Number.NaN
    for (const kind of ofMembers) {
      process.stderr.write(`  joins: ${kind}\n`)
      const { first, ratio } = await inTurns(() => flooder.during(kind, settled), measure, rounds)
      result.push({ name: kind, value: first, unit: "ms p99", ratio, against: "the p99 at rest" })
      // The first flood fills what is filled once.
      if (Number.isNaN(before)) before = residentMegabytes(edge)
    }
    const grown = residentMegabytes(edge) - before
    return [...result, { name: "edge memory after all floods, above that after the first", value: grown, unit: "MiB" }]
  } finally {
    await flooder.stop()
    await relay.dispose()
    await Effect.runPromise(Scope.close(life, Exit.void))
  }
}
