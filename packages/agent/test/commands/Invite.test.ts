/** `channel invite` and a control plane that makes no link: whether asking again can help is in the exit code. */
import { assert, describe, it } from "@effect/vitest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { makeHome, runAgent } from "../harness/Agent.ts"

/** Answers everything with this status; undefined is closed before it is asked. */
const ended = async (status: number | undefined) => {
  const server = createServer((_, response) => void response.writeHead(status ?? 500).end())
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  if (status === undefined) await new Promise((resolve) => server.close(resolve))
  await using home = await makeHome()
  await using agent = runAgent(
    home,
    {
      CT_CHANNEL_ROLE: "accept",
      CT_CHANNEL_ID: "0a".repeat(32),
      CT_AGENT_CP_URL: `http://127.0.0.1:${port}`,
      CT_OIDC_TOKEN: "token",
      CT_CHANNEL_OPERATOR_KEY: "44".repeat(32),
      CT_CHANNEL_BROKER: "127.0.0.1:1"
    },
    ["channel", "invite"]
  )
  const code = await agent.exited
  server.closeAllConnections()
  server.close()
  assert.include(agent.lines.join("\n"), "No invite link was made. The control plane ")
  return code
}

describe("channel invite", () => {
  it("ends with 5 where the control plane cannot answer now, and with 4 where it says no", async () => {
    const codes = await Promise.all([undefined, 502, 503, 429, 403, 404].map(ended))
    assert.deepStrictEqual(codes, [5, 5, 5, 5, 4, 4])
  })
})
