import { Stack } from "@catenet/testing/stack/e2e/Stack"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { soak } from "./Soak.ts"

/** Eight seconds in the gate; `npm run campaign e2e/soak` runs 30 minutes. */
const seconds = Number(process.env["CATENET_SOAK_SECONDS"] ?? 8)

/** MiB that a program still warms up by within seconds on a busy machine, and does not within minutes. */
const warmUp = seconds < 60 ? 30 : 5

describe("mixed visitors for minutes", () => {
  let stack: Stack

  beforeAll(async () => {
    stack = await Stack.make()
    await stack.up(["--no-demo"])
  })
  afterAll(() => stack.dispose())

  it(
    "leave memory flat, no descriptor open, and counters and receipts that add up",
    async () => {
      const outcome = await soak(stack, seconds, 16)
      process.stderr.write(`\n${JSON.stringify(outcome)}\n`)
      const { agentOpened, descriptors, edgeRelays, memory, originConnections, receipts, seen } = outcome
      for (const [kind, { done, failed }] of Object.entries(seen)) {
        assert.isAbove(done, 0, kind)
        assert.strictEqual(failed, 0, kind)
      }
      assert.strictEqual(agentOpened, originConnections)
      assert.strictEqual(edgeRelays, originConnections)
      for (const { early, late } of Object.values(memory)) assert.isBelow(late, early * 1.1 + warmUp)
      for (const { after, before } of Object.values(descriptors)) assert.isAtMost(after, before + 2)
      assert.isAbove(receipts.count, 0)
      assert.isTrue(receipts.verify)
    },
    (seconds + 180) * 1000
  )
})
