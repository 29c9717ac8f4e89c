/** The few answers the edge gives in its own name to visitors of gelb hosts. Nothing of the visitor is echoed. */
import * as AccessPolicy from "@catenet/domain/edges/AccessPolicy"
import { Markup, markup } from "@catenet/domain/values/Markup"
import { smallSheet } from "@catenet/domain/values/PageLook"
import { DateTime } from "effect"
import { STATUS_CODES } from "node:http"

/** An answer before it is put into the version of HTTP the visitor speaks. */
export interface EdgeResponse {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Nothing of it is kept anywhere. */
export const response = (
  status: number,
  type: string,
  body: string,
  fields: EdgeResponse["fields"] = {}
): EdgeResponse => ({
  status,
  fields: { "Content-Type": `${type}; charset=utf-8`, "Cache-Control": "no-store", ...fields },
  body: Buffer.from(body, "utf8")
})

/** The answer as the last one on an HTTP/1 connection. */
export const http1 = ({ status, fields, body }: EdgeResponse): Buffer => {
  const named = { ...fields, "Content-Length": `${body.length}`, Connection: "close" }
  const lines = Object.entries(named).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`
  return Buffer.concat([Buffer.from(head, "latin1"), body])
}

const look = new Markup(smallSheet)

/** A page of one sentence. */
export const page = (title: string, sentence: string | Markup): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${look}</style>
</head>
<body><main><h1>${title}</h1><p>${sentence}</p></main></body>
</html>
`.text

/** A refusal of one request, in plain text. */
export const plainResponse = (status: number, reason: string): EdgeResponse =>
  response(status, "text/plain", `${reason}\n`)

/** 502: the host exists, its agent is not connected. */
export const offlinePage = (): EdgeResponse =>
  response(
    502,
    "text/html",
    page(
      "This service is offline",
      "Its address is right, but the computer behind it is not connected at the moment. Try again in a little while."
    ),
    { "Retry-After": "10" }
  )

/** 502: the agent is connected, but what it serves did not answer. */
export const silentPage = (): EdgeResponse =>
  response(
    502,
    "text/html",
    page(
      "This service does not answer",
      "The computer behind this address is connected, but the service on it does not answer. Try again in a little while."
    ),
    { "Retry-After": "10" }
  )

/** What the page of a closed access window says, and no other. */
export const closedTitle = "This service is closed now"

/** 503: the owner's access window is shut at `now` (unix seconds); names the next change if there is one. */
export const closedPage = (policy: AccessPolicy.AccessPolicy, now: number): EdgeResponse => {
  const change = AccessPolicy.nextChange(policy, now)
  return response(
    503,
    "text/html",
    page(
      closedTitle,
      change === null
        ? "Its owner has closed access to it. No time of reopening is set."
        : `Its owner allows access only at certain times. It opens again at ${utc(change)} UTC.`
    ),
    { "Retry-After": `${AccessPolicy.retryAfter(policy, now) ?? 1}` }
  )
}

const utc = (seconds: number) =>
  DateTime.formatIso(DateTime.makeUnsafe(seconds * 1_000))
    .slice(0, 16)
    .replace("T", " ")
