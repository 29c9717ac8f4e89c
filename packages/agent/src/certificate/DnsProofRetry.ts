/** When the control plane is asked again to publish a proof: the same value, for the same order. */
import { Effect } from "effect"
import { HttpClientError } from "effect/http"

/** The type of a failure before which the authority was not asked to look. */
export const notPublished = "notPublished"

/** It has waited for the name servers by itself. */
const soon = 1
const whileAway = 2

const retryAfterOf = (error: object) =>
  "retry_after" in error && typeof error.retry_after === "number" ? error.retry_after : soon

/** Seconds after which it is asked again; undefined where it has said no. */
const pauseOf = (error: { readonly _tag: string }) => {
  switch (error._tag) {
    case "DnsBusy":
      return retryAfterOf(error)
    case "DnsNotConverged":
    case "TimeoutError":
      return soon
    default: {
      if (!HttpClientError.isHttpClientError(error)) return undefined
      const { response } = error
      return response === undefined || response.status >= 500 || response.status === 429 ? whileAway : undefined
    }
  }
}

/** Asks until there is an answer; the caller sets the bound. */
export const retry = <A, E extends { readonly _tag: string }, R>(
  publish: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  publish.pipe(
    Effect.catch((error) => {
      const pause = pauseOf(error)
      return pause === undefined ? Effect.fail(error) : Effect.andThen(Effect.sleep(`${pause} seconds`), retry(publish))
    })
  )
