/** The commands of a channel's owner, against a control plane that answers what the test says. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

const run = async (args: ReadonlyArray<string>, { body, status, type }: Answer) => {
  const server = createServer(
    (_request, response) => void response.writeHead(status, { "content-type": type }).end(body)
  )
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  await using home = await makeHome()
  await using agent = runAgent(
    home,
    {
      CT_AGENT_CP_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      CT_OIDC_TOKEN: "token",
      CT_CHANNEL_ID: "0a".repeat(32),
      CT_CHANNEL_OPERATOR_PUBKEY: "0b".repeat(32)
    },
    ["channel", ...args]
  )
  const code = await agent.exited
  server.closeAllConnections()
  server.close()
  return { code, stdout: agent.stdout(), stderr: agent.lines.join("\n") }
}

describe("channel register", () => {
  const taken = { status: 409, type: "text/plain; charset=utf-8", body: "this channel has another operator\n" }

  it("prints a refusal in plain text and names --rekey", async () => {
    const { code, stderr } = await run(["register"], taken)
    assert.strictEqual(code, 4)
    assert.include(stderr, "this channel has another operator")
    assert.include(stderr, "ct-agent channel register --rekey")
  })

  it("does not advise --rekey to a call that has it", async () => {
    const { code, stderr } = await run(["register", "--rekey"], taken)
    assert.strictEqual(code, 4)
    assert.include(stderr, "this channel has another operator")
    assert.notInclude(stderr, "--rekey")
  })
})

describe("channel allowlist list", () => {
  it("escapes control characters, and prints addresses as they are", async () => {
    const emails = ["ada@example.org", "eve\u001b[2J\n@example.org\u202e"]
    const { code, stdout } = await run(["allowlist", "list"], {
      status: 200,
      type: "application/json",
      body: JSON.stringify({ emails })
    })
    assert.strictEqual(code, 0)
    assert.strictEqual(stdout, "ada@example.org\neve\\u001b[2J\\u000a@example.org\\u202e\n")
  })
})
