/** The few answers the edge gives in its own name to visitors of gelb hosts. Nothing of the visitor is echoed. */
import { STATUS_CODES } from "node:http"
import * as AccessWindow from "@catenet/domain/rules/AccessWindow"
import { DateTime } from "effect"

const answer = (status: number, fields: ReadonlyArray<string>, type: string, body: string): Buffer => {
  const content = Buffer.from(body, "utf8")
  return Buffer.concat([
    Buffer.from(
      [
        `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
        `Content-Type: ${type}; charset=utf-8`,
        `Content-Length: ${content.length}`,
        "Cache-Control: no-store",
        "Connection: close",
        ...fields,
        "\r\n"
      ].join("\r\n"),
      "latin1"
    ),
    content
  ])
}

const page = (title: string, sentence: string) =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>body{font:1.1rem/1.6 system-ui,sans-serif;max-width:34rem;margin:15vh auto 0;padding:0 1rem}h1{font-size:1.5rem}</style>
</head>
<body><main><h1>${title}</h1><p>${sentence}</p></main></body>
</html>
`

/** A refusal of one request, in plain text. */
export const plainAnswer = (status: number, reason: string): Buffer => answer(status, [], "text/plain", `${reason}\n`)

/** 502: the host exists, its agent is not connected. */
export const offlinePage = (): Buffer =>
  answer(
    502,
    ["Retry-After: 10"],
    "text/html",
    page(
      "This service is offline",
      "Its address is right, but the computer behind it is not connected at the moment. Try again in a little while."
    )
  )

/** 502: the agent is connected, but what it serves did not answer. */
export const silentPage = (): Buffer =>
  answer(
    502,
    ["Retry-After: 10"],
    "text/html",
    page(
      "This service does not answer",
      "The computer behind this address is connected, but the service on it does not answer. Try again in a little while."
    )
  )

/** 503: the owner's access window is shut at `now` (unix seconds); names the next change if there is one. */
export const closedPage = (policy: AccessWindow.Policy, now: number): Buffer => {
  const change = AccessWindow.nextChange(policy, now)
  return answer(
    503,
    [`Retry-After: ${AccessWindow.retryAfter(policy, now) ?? 1}`],
    "text/html",
    page(
      "This service is closed now",
      change === null
        ? "Its owner has closed access to it. No time of reopening is set."
        : `Its owner allows access only at certain times. It opens again at ${utc(change)} UTC.`
    )
  )
}

const utc = (seconds: number) =>
  DateTime.formatIso(DateTime.makeUnsafe(seconds * 1_000))
    .slice(0, 16)
    .replace("T", " ")
