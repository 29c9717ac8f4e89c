import { type AlertFormat, callOf, type Outage } from "@catenet/domain/tunnels/AlertFormat"
import { assert, describe, it } from "vitest"

const page = "https://portal.example/portal/tunnels/1"
const outage: Outage = { event: "tunnel.down", name: "shop", since: 1_700_000_000, thresholdSeconds: 60, page }
const down = "shop is down since 2023-11-14 22:13 UTC. It is reported after 1 minute."
const call = (format: Exclude<AlertFormat, "signed">, url: string, more: Partial<Outage> = {}, token?: string) => {
  const { body, ...rest } = callOf(format, url, token, "msg_1", { ...outage, ...more })
  return { ...rest, body: JSON.parse(body) as unknown }
}
const headers = { "content-type": "application/json" }

describe("an alert reaches", () => {
  it("a channel of Slack as text", () => {
    const url = "https://hooks.slack.com/services/T/B/x"
    assert.deepStrictEqual(call("slack", url), { method: "POST", url, headers, body: { text: `${down} ${page}` } })
  })

  it("a channel of Discord as text that mentions nobody", () => {
    const url = "https://discord.com/api/webhooks/1/x"
    const body = {
      content: `This is a test of the alert of \\@everyone \\*a\\*. ${page}`,
      allowed_mentions: { parse: [] }
    }
    assert.deepStrictEqual(call("discord", url, { event: "tunnel.test", name: "@everyone *a*" }), {
      method: "POST",
      url,
      headers,
      body
    })
  })

  it("a room of Matrix once, however often it is sent", () => {
    const room = "https://m.example/_matrix/client/v3/rooms/!a:m.example/send/m.room.message"
    assert.deepStrictEqual(call("matrix", `${room}/`, {}, "syt_1"), {
      method: "PUT",
      url: `${room}/msg_1`,
      headers: { ...headers, authorization: "Bearer syt_1" },
      body: { msgtype: "m.text", body: `${down} ${page}` }
    })
  })

  it("a topic of ntfy with a title in any letters, above the folder of the topic", () => {
    const body = {
      topic: "my-topic",
      title: "Café 店",
      message: "Café 店 is up again since 2023-11-14 22:13 UTC.",
      priority: 3,
      tags: ["white_check_mark"],
      click: page
    }
    const more = { event: "tunnel.up", name: "Café\n店" } as const
    assert.deepStrictEqual(call("ntfy", "https://push.example/at/my-topic", more), {
      method: "POST",
      url: "https://push.example/at",
      headers,
      body
    })
    assert.strictEqual(call("ntfy", "https://ntfy.sh/my-topic", {}, "tk_1").headers["authorization"], "Bearer tk_1")
  })
})
