/** The embedded identity provider that is asked to stop while clients keep their connections busy. */
import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { assert, it } from "vitest"
import * as BusyClients from "../../bench/BusyClients.ts"
import * as IdentityProvider from "./IdentityProvider.ts"

const clients = Number(process.env["CT_DRAIN_VISITORS"] ?? 100)

it("an identity provider that stops is not ready for a while, then lets busy clients go, and resets none", async () => {
  await using provider = await IdentityProvider.start({ CT_IDP_DRAIN_DELAY_SECS: "1" })
  const { path, port, program } = provider
  const { ended, ends } = await BusyClients.busy({ port }, path, clients)
  const began = performance.now()
  const stopped = program.stop()
  const isUnready = () => fetch(`http://127.0.0.1:${port}/health/ready`).then(({ status }) => status === 503)
  await eventually(isUnready, "not ready")
  assert.strictEqual(ends.size, 0, "meanwhile clients are served")
  const { code } = await stopped
  const took = performance.now() - began
  await ended
  assert.deepStrictEqual([...ends], [["asked to close", clients]])
  assert.strictEqual(code, 130)
  assert.isAtLeast(took, 1_000)
  assert.isBelow(took, onThisMachine(4_000))
})
