/**
 * The forms in which an alert reaches its receiver: the platform's own signed message, or what a chat or a push service takes at an
 * address of its own. Mail about an outage is a notice (see the account's page), and no format here.
 */
import { Schema } from "effect"

/** `signed` is the default. */
export const AlertFormat = Schema.Literals(["signed", "slack", "discord", "matrix", "ntfy"])
export type AlertFormat = typeof AlertFormat.Type

/** Formats whose receiver takes a token in `Authorization`, and whether it has to. */
export const tokenOf: Readonly<Record<AlertFormat, "none" | "optional" | "required">> = {
  signed: "none",
  slack: "none",
  discord: "none",
  matrix: "required",
  ntfy: "optional"
}

/** What happened to which tunnel. Times in Unix seconds. */
export interface Outage {
  readonly event: "tunnel.down" | "tunnel.up" | "tunnel.test"
  readonly name: string
  readonly since: number
  readonly thresholdSeconds: number
  /** The tunnel's page in the portal. */
  readonly page: string
}

/** What is sent to a receiver other than our own kind. */
export interface Call {
  readonly method: "POST" | "PUT"
  readonly url: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const time = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`

/** What a tunnel is called, in one line. */
const oneLine = (name: string) => name.replaceAll(/[\p{C}\s]+/gu, " ").trim()

const sentence = ({ event, since, thresholdSeconds }: Outage, name: string): string => {
  if (event === "tunnel.test") return `This is a test of the alert of ${name}.`
  if (event === "tunnel.up") return `${name} is up again since ${time(since)}.`
  const minutes = Math.round(thresholdSeconds / 60)
  return `${name} is down since ${time(since)}. It is reported after ${minutes} ${minutes === 1 ? "minute" : "minutes"}.`
}

/** Slack's three (https://docs.slack.dev/messaging/formatting-message-text). */
const forSlack = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
const forMarkdown = (text: string) => text.replaceAll(/[\\*_~|`>#[\]()@-]/g, "\\$&")

const json = (method: Call["method"], url: string, value: object, token?: string): Call => ({
  method,
  url,
  body: JSON.stringify(value),
  headers: {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
  }
})

/** ntfy takes JSON at the server's root, with the topic in it; so a name may have any letters. */
const toNtfy = (receiver: string, outage: Outage, token: string | undefined) => {
  const url = new URL(receiver)
  const folders = url.pathname.split("/").filter((part) => part !== "")
  const topic = decodeURIComponent(folders.pop() ?? "")
  const root = new URL(`/${folders.join("/")}`, url)
  const isDown = outage.event === "tunnel.down"
  const name = oneLine(outage.name)
  const message = {
    topic,
    title: name,
    message: sentence(outage, name),
    priority: isDown ? 4 : 3,
    tags: [isDown ? "rotating_light" : "white_check_mark"],
    click: outage.page
  }
  return json("POST", root.href, message, token)
}

/**
 * The call that tells a receiver. `id` names the delivery and is the same for all its attempts; Matrix takes it as the id of the
 * transaction, so that a repeated attempt makes no second message.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { callOf } from "@catenet/domain/tunnels/AlertFormat"
 *
 * const outage = { event: "tunnel.up", name: "<shop>", since: 1_700_000_000, thresholdSeconds: 300, page: "https://p.example/" } as const
 * const { body } = callOf("slack", "https://hooks.slack.com/services/T/B/x", undefined, "msg_1", outage)
 * assert.deepEqual(JSON.parse(body), { text: "&lt;shop&gt; is up again since 2023-11-14 22:13 UTC. https://p.example/" })
 * ```
 */
export const callOf = (
  format: Exclude<AlertFormat, "signed">,
  receiver: string,
  token: string | undefined,
  id: string,
  outage: Outage
): Call => {
  const name = oneLine(outage.name)
  switch (format) {
    case "slack":
      return json("POST", receiver, { text: `${forSlack(sentence(outage, name))} ${outage.page}` })
    case "discord":
      return json("POST", receiver, {
        content: `${sentence(outage, forMarkdown(name))} ${outage.page}`,
        allowed_mentions: { parse: [] }
      })
    case "matrix": {
      const url = new URL(receiver)
      url.pathname = `${url.pathname.replace(/\/$/, "")}/${id}`
      return json("PUT", url.href, { msgtype: "m.text", body: `${sentence(outage, name)} ${outage.page}` }, token)
    }
    case "ntfy":
      return toNtfy(receiver, outage, token)
  }
}

/**
 * Why an address cannot be a receiver of this format.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { unfit } from "@catenet/domain/tunnels/AlertFormat"
 *
 * assert.equal(unfit("ntfy", "https://ntfy.sh/my-topic"), undefined)
 * assert.match(unfit("ntfy", "https://ntfy.sh/") ?? "", /^must end in the topic/)
 * ```
 */
export const unfit = (format: AlertFormat, receiver: string): string | undefined => {
  const { pathname } = new URL(receiver)
  if (format === "matrix" && !/^\/_matrix\/client\/v3\/rooms\/[^/]+\/send\/m\.room\.message\/?$/.test(pathname))
    return "must end in /_matrix/client/v3/rooms/ROOM/send/m.room.message for Matrix"
  if (format === "ntfy" && !/\/[\w-]{1,64}\/?$/.test(pathname))
    return "must end in the topic for ntfy: at most 64 letters, digits, - and _"
  return undefined
}
