/**
 * Prepared responses that are the same for everyone. Such a request is answered before a context is built for it; any
 * unusual request goes to the routes.
 */
import { Effect, LogLevel, References } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"

/** Answers a request at once, or leaves it to the routes. */
export type PreHandler = (request: IncomingMessage, response: ServerResponse) => boolean

/** What is answered now; nothing when it has to be made first. */
type Answers = Readonly<Record<string, () => HttpServerResponse.HttpServerResponse | undefined>>

const hasBody = ({ headers }: IncomingMessage) =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined

/** Where requests are counted. */
interface Traffic {
  readonly now: () => bigint
  readonly add: (method: string, route: string, status: number, since: bigint) => void
}

/** Answers `GET` of these paths; none while every request has its line in the log. */
export const preHandler = Effect.fnUntraced(function* (answers: Answers, traffic: Traffic) {
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
