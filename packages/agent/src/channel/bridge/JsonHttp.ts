/** JSON over HTTP for the bridge tools: no redirects, and responses are limited to the size of a channel message. */
import * as Json from "@catenet/crypto/Json"
import { redact } from "@catenet/domain/values/Redaction"
import { Effect, Redacted, Result } from "effect"
import * as OutgoingHttp from "../../onboard/OutgoingHttp.ts"
import { textOf, ToolFailed } from "../rpc/Tool.ts"

export interface Ask {
  /** The server, as the beginning of a sentence. */
  readonly whom: string
  readonly url: string
  readonly method?: "GET" | "POST"
  readonly token?: Redacted.Redacted
  readonly body?: Json.Json
}

/** Characters of another program's sentence that are passed on. */
const longestDetail = 500

const bound = 30_000

/** The JSON of a 2xx answer, null for none. */
export const ask = Effect.fn("JsonHttp.ask")(function* ({ body, method = "GET", token, url, whom }: Ask) {
  const failed = (what: string, isUnreachable = true) => new ToolFailed({ reason: `${whom} ${what}`, isUnreachable })
  const headers = {
    accept: "application/json",
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(token === undefined ? {} : { authorization: `Bearer ${Redacted.value(token)}` })
  }
  const send = yield* OutgoingHttp.send
  const { ok, status, text } = yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await send(url, {
        method,
        headers,
        signal,
        ...(body === undefined ? {} : { body: Json.write(body) })
      })
      return { ok: response.ok, status: response.status, text: await response.text() }
    },
    catch: (cause) => failed(`does not answer: ${cause instanceof Error ? cause.message : "the connection failed"}`)
  }).pipe(
    Effect.timeoutOrElse({
      duration: bound,
      orElse: () => Effect.fail(failed(`does not answer within ${bound / 1000} seconds`))
    })
  )
  const value = text === "" ? null : Result.getOrUndefined(Json.parse(text))
  if (!ok) {
    const detail = value === undefined ? undefined : textOf(value, "detail")
    return yield* failed(
      `answered ${status}${detail === undefined ? "" : `: ${redact(detail).slice(0, longestDetail)}`}`,
      status >= 500 || status === 429
    )
  }
  return value === undefined ? yield* failed("answered no JSON") : value
})
