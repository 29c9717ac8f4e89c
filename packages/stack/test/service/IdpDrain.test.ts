/** The embedded identity provider that is asked to stop while clients keep their connections busy. */
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, get } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "vitest"
import { eventually } from "../../../domain/test/Eventually.ts"
import { freePort } from "../../src/Ports.ts"
import { catenet, endsWithUs } from "../e2e/Stack.ts"

const clients = Number(process.env["CT_DRAIN_VISITORS"] ?? 100)

it("an identity provider that stops is not ready for a while, then lets busy clients go, and resets none", async () => {
  const folder = mkdtempSync(join(tmpdir(), "catenet-idp-drain-"))
  const port = await Effect.runPromise(freePort("127.0.0.1"))
  const secret = "d".repeat(32)
  const program = catenet(["idp"], {
    ...endsWithUs,
    CT_IDP_LISTEN: `127.0.0.1:${port}`,
    CT_IDP_FOLDER: join(folder, "idp"),
    CT_IDP_PORTAL_URL: "http://localhost:1",
    CT_IDP_PORTAL_CLIENT_SECRET: secret,
    CT_IDP_GATE_CLIENT_SECRET: secret,
    CT_IDP_MANAGER_CLIENT_SECRET: secret,
    CT_IDP_USER_EMAIL: "ann@example.net",
    CT_IDP_USER_PASSWORD: secret,
    CT_IDP_DRAIN_DELAY_SECS: "1"
  })
  try {
    await program.printed("identity provider ready")
    const url = `http://127.0.0.1:${port}/realms/catenet/.well-known/openid-configuration`
    const ends = new Map<string, number>()
    const ended = (how: string) => void ends.set(how, (ends.get(how) ?? 0) + 1)
    const served = new Set<number>()
    const ask = (agent: Agent) =>
      new Promise<boolean>((resolve, reject) => {
        get(url, { agent }, (response) => {
          response.resume().on("end", () => resolve(response.headers.connection === "close"))
        }).on("error", reject)
      })
    const stays = async (n: number) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      for (;;)
        try {
          if (await ask(agent)) return ended("said to close")
          served.add(n)
          await new Promise((resolve) => setTimeout(resolve, 100))
        } catch (error) {
          return ended(String(Reflect.get(Object(error), "code")))
        }
    }
    const all = Array.from({ length: clients }, (_, n) => stays(n))
    await eventually(() => served.size === clients, "they are served", 60_000)
    const began = performance.now()
    const stopped = program.stop()
    const ready = () => fetch(`http://127.0.0.1:${port}/health/ready`).then(({ status }) => status === 503)
    await eventually(ready, "not ready")
    assert.strictEqual(ends.size, 0, "meanwhile clients are served")
    const { code } = await stopped
    const took = performance.now() - began
    await Promise.all(all)
    assert.deepStrictEqual([...ends], [["said to close", clients]])
    assert.strictEqual(code, 130)
    assert.isAtLeast(took, 1_000)
    assert.isBelow(took, 4_000)
  } finally {
    await program.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
