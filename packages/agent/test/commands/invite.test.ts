/** `channel invite` and a control plane that makes no link: whether asking again can help is in the exit code. */
import { maxMembershipDays } from "@catenet/crypto/invite/PreparedMembership"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { assert, describe, it } from "@effect/vitest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

interface More {
  readonly answer?: (method: string) => string
  readonly flags?: ReadonlyArray<string>
}

/** Answers everything with this status; undefined is closed before it is asked. */
const ended = async (
  status: number | undefined,
  sentence = "No invite link was made. The control plane ",
  { answer, flags = [] }: More = {}
) => {
  const server = createServer(
    ({ method = "" }, response) => void response.writeHead(status ?? 500).end(answer?.(method))
  )
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
    ["channel", "invite", ...flags]
  )
  const code = await agent.exited
  server.closeAllConnections()
  server.close()
  assert.include(agent.lines.join("\n"), sentence)
  return code
}

describe("channel invite", () => {
  it("ends with 5 where the control plane cannot answer now, and with 4 where it says no", async () => {
    const codes = await Promise.all([undefined, 502, 503, 429, 403, 404].map((status) => ended(status)))
    assert.deepStrictEqual(codes, [5, 5, 5, 5, 4, 4])
  })

  it("ends with 3, and makes no link, where the key is not of the channel's operator", async () => {
    const asked: Array<string> = []
    const code = await ended(200, "CT_CHANNEL_OPERATOR_KEY is not the key of this channel's operator", {
      answer: (method) => {
        asked.push(method)
        return JSON.stringify({ operator_pubkey: "ab".repeat(32) })
      }
    })
    assert.strictEqual(code, 3)
    assert.deepStrictEqual(asked, ["GET"])
  })

  it("takes 1 to 3650 days, and refuses what is below or beyond with 2", async () => {
    const beyond = (days: string) =>
      ended(403, `--days is ${days}: give a whole number from 1 to ${maxMembershipDays}.`, {
        flags: [`--days=${days}`]
      })
    const within = (days: string) => ended(403, undefined, { flags: [`--days=${days}`] })
    const codes = await Promise.all([beyond("0"), within("1"), within("3650"), beyond("3651"), beyond("-1")])
    assert.deepStrictEqual(codes, [2, 4, 4, 2, 2])
  })
})
