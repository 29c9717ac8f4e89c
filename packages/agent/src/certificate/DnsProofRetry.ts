/** Retries publishing a DNS proof at the control plane: the same value, for the same order. */
import { clause } from "@catenet/domain/values/Sentence"
import { Clock, Effect } from "effect"
import { HttpClientError } from "effect/http"
import { describe } from "../onboard/HttpErrors.ts"

/** The type of a failure before which the CA was not asked to validate. */
export const notPublished = "notPublished"

/** It has waited for the name servers by itself. */
const soon = 1
/** Seconds after the first answer that was none, twice as many after each further one. */
const whileAway = 2
const longestWhileAway = 30

const retryAfterOf = (error: object) =>
  "retry_after" in error && typeof error.retry_after === "number" ? error.retry_after : soon

/** Seconds of a Retry-After: a number, or a date (RFC 9110). */
const secondsOf = (text: string | undefined, now: number) => {
  const seconds = /^\d{1,9}$/u.test(text ?? "") ? Number(text) : (Date.parse(text ?? "") - now) / 1000
  return Number.isNaN(seconds) ? 0 : Math.ceil(seconds)
}

/** Seconds until the next attempt after `failures` unsuccessful ones; undefined after a refusal. */
const pauseOf = (error: { readonly _tag: string }, failures: number, now: number) => {
  switch (error._tag) {
    case "DnsBusy":
      return retryAfterOf(error)
    case "DnsNotConverged":
    case "TimeoutError":
      return soon
    default: {
      if (!HttpClientError.isHttpClientError(error)) return undefined
      const { response } = error
      if (response !== undefined && response.status < 500 && response.status !== 429) return undefined
      const growing = Math.min(longestWhileAway, whileAway * 2 ** failures)
      return Math.max(growing, secondsOf(response?.headers["retry-after"], now))
    }
  }
}

/** Retries until there is an answer; the caller limits the time. */
export const retry = <A, E extends { readonly _tag: string }, R>(
  publish: Effect.Effect<A, E, R>,
  failures = 0
): Effect.Effect<A, E, R> =>
  publish.pipe(
    Effect.catch((error) =>
      Effect.gen(function* () {
        const pause = pauseOf(error, failures, yield* Clock.currentTimeMillis)
        if (pause === undefined) return yield* Effect.fail(error)
        if (HttpClientError.isHttpClientError(error))
          yield* Effect.logWarning(
            `the control plane could not publish the proof in DNS, and is asked again in ${pause} s: ${clause(describe(error))}`
          )
        yield* Effect.sleep(`${pause} seconds`)
        return yield* retry(publish, failures + 1)
      })
    )
  )
