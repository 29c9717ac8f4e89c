/** A port that is taken is said by its address and the variable that moves it, without a trace. */
import { catenet } from "@catenet/testing/stack/e2e/Stack"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "catenet-taken-"))
const server = createServer()
const secret = "s".repeat(32)

beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

describe.concurrent("a taken port", () => {
  it.each([
    {
      command: "idp",
      variable: "CT_IDP_LISTEN",
      others: {
        CT_IDP_FOLDER: folder,
        CT_IDP_PORTAL_URL: "http://127.0.0.1:8090",
        CT_IDP_PORTAL_CLIENT_SECRET: secret,
        CT_IDP_GATE_CLIENT_SECRET: secret,
        CT_IDP_MANAGER_CLIENT_SECRET: secret,
        CT_IDP_USER_EMAIL: "ada@example.test",
        CT_IDP_USER_PASSWORD: secret
      }
    },
    { command: "origin", variable: "CT_DEMO_ORIGIN_LISTEN", others: {} }
  ])("ends `catenet $command` with 3 and a sentence", async ({ command, others, variable }) => {
    const { port } = server.address() as AddressInfo
    const { code, stderr } = await catenet([command], { ...others, [variable]: `127.0.0.1:${port}` }).ended
    assert.strictEqual(code, 3, stderr)
    const [last] = stderr.trim().split("\n").slice(-1)
    assert.match(
      last ?? "",
      new RegExp(`^Error: 127\\.0\\.0\\.1:${port} cannot be opened .*; move it with ${variable}\\.$`, "u")
    )
    assert.notInclude(stderr, "    at ")
  })
})
