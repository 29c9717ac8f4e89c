/** Thirty minutes of mixed visitors (`CATENET_SOAK_SECONDS` for another time): what changed, and what adds up. */
import type { Stack } from "@catenet/testing/stack/e2e/Stack"
import { soak } from "../test/e2e/Soak.ts"
import type { Row } from "./Report.ts"

export const rows = async (stack: Stack): Promise<ReadonlyArray<Row>> => {
  const seconds = Number(process.env["CATENET_SOAK_SECONDS"] ?? 1800)
  const { agentOpened, descriptors, edgeRelays, memory, originConnections, receipts, seen } = await soak(
    stack,
    seconds,
    32
  )
  const spoke = Object.entries(seen).reduce((sum, [kind, { done }]) => (kind === "malformed" ? sum : sum + done), 0)
  return [
    ...Object.entries(seen).flatMap(([kind, { done, failed }]) => [
      { name: `${kind} visitors`, value: done, unit: "done" },
      { name: `${kind} visitors`, value: failed, unit: "failed" }
    ]),
    {
      name: "visitors that spoke TLS",
      value: spoke,
      unit: "",
      ratio: spoke / originConnections,
      against: "what the origin saw"
    },
    {
      name: "edge: relays counted",
      value: edgeRelays,
      unit: "",
      ratio: edgeRelays / originConnections,
      against: "what the origin saw"
    },
    {
      name: "agent: tunnels counted",
      value: agentOpened,
      unit: "",
      ratio: agentOpened / originConnections,
      against: "what the origin saw"
    },
    ...Object.entries(memory).map(([name, { early, late }]) => ({
      name: `${name}: least resident memory of the last quarter`,
      value: late,
      unit: "MB",
      ratio: late / early,
      against: "the second quarter"
    })),
    ...Object.entries(descriptors).map(([name, { after, before }]) => ({
      name: `${name}: descriptors left open`,
      value: after - before,
      unit: ""
    })),
    { name: `receipts ${receipts.verify ? "verify" : "DO NOT VERIFY"}`, value: receipts.count, unit: "" }
  ]
}
