/**
 * Answers that stand ready: made beforehand, the same for everybody, open to anyone as often as they like. Such a
 * request is answered before anything is built for it. Whatever is out of the ordinary goes the way of all others.
 */
import { Effect, LogLevel, References } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Traffic } from "./RequestMetrics.ts"

/** Answers a request at once, or leaves it to others. */
export type Front = (request: IncomingMessage, response: ServerResponse) => boolean

/** What is answered now; nothing when it has to be made first. */
type Answers = Readonly<Record<string, () => HttpServerResponse.HttpServerResponse | undefined>>

const hasBody = ({ headers }: IncomingMessage) =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined

/** Answers `GET` of these paths; none while every request has its line in the log. */
export const front = Effect.fnUntraced(function* (answers: Answers) {
  const traffic = yield* Traffic
  const isLogged = LogLevel.isLessThanOrEqualTo(yield* References.MinimumLogLevel, "Debug")
  const ready = new Map(isLogged ? [] : Object.entries(answers))
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { method, url } = request
    if (method !== "GET" || url === undefined) return false
    const answer = ready.get(url)
    if (answer === undefined || hasBody(request)) return false
    const since = traffic.now()
    const made = answer()
    if (made?.body._tag !== "Uint8Array") return false
    response.writeHead(made.status, made.headers).end(made.body.text ?? made.body.body)
    traffic.add(method, url, made.status, since)
    return true
  }
})
