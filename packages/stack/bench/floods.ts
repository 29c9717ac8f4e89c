/**
 * The p99 of one tunnel's requests while another one, or the edge, is flooded: its ratio to the p99 that the same tunnel has at
 * rest in the same round. The flood is a process of its own, which shares the machine with the stack.
 */
import { pem } from "@catenet/crypto/x509/Certificate"
import { Flooder } from "@catenet/testing/edge/floods/FlooderProcess"
import { ofVisitors } from "@catenet/testing/edge/floods/Kinds"
import { latencies, p99 } from "@catenet/testing/edge/floods/Latency"
import { httpOrigin } from "@catenet/testing/stack/e2e/Origins"
import type { Stack } from "@catenet/testing/stack/e2e/Stack"
import { readFileSync } from "node:fs"
import { provision, serve } from "../test/e2e/Tunnel.ts"
import { inTurns } from "./InTurns.ts"
import type { Row } from "./Report.ts"

const millis = 1500
/** What an address may open at once is over by then. */
const settledMillis = 500
const rounds = 5

export const rows = async (stack: Stack): Promise<ReadonlyArray<Row>> => {
  const origin = await httpOrigin()
  const flooded = await provision(stack, "flooded.catenet.localhost", origin.port)
  const other = await provision(stack, "other.catenet.localhost", origin.port)
  const agents = [await serve(stack, flooded), await serve(stack, other)]
  const flooder = await Flooder.start({
    frontDoor: stack.ports.frontDoor,
    mesh: stack.ports.mesh,
    visitorRoot: stack.root,
    agentRoot: pem(readFileSync(other.variables["CT_AGENT_EDGE_CERT"] ?? "")),
    webSocket: 0,
    host: flooded.hostname,
    member: { join: "", forged: "", grant: "", signature: "" },
    yields: true
  })
  const aim = { port: stack.ports.frontDoor, servername: other.hostname, ca: stack.root }
  const measure = async () => p99(await latencies(aim, millis))
  const settled = async () => {
    await new Promise((resolve) => setTimeout(resolve, settledMillis))
    return measure()
  }
  await measure()
  const result: Array<Row> = []
  for (const kind of ofVisitors) {
    const { first, ratio } = await inTurns(() => flooder.during(kind, settled), measure, rounds)
    result.push({ name: kind, value: first, unit: "ms p99", ratio, against: "the p99 at rest" })
  }
  await flooder.stop()
  await Promise.all(agents.map((agent) => agent.stop()))
  await origin.close()
  return result
}
