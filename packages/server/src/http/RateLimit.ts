/**
 * Limits how often one caller may use the routes that cost something. A caller is an account with its service accounts where one
 * is known, else the client's address. Each response names the limit.
 */
import { Caller, quotaSubject, RateLimit } from "@catenet/domain/api/Access"
import { BodyLimit } from "@catenet/domain/api/RequestReading"
import { RateLimited } from "@catenet/domain/values/RequestErrors"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Settings } from "../settings/Settings.ts"
import { ClientAddresses } from "./ClientAddresses.ts"

/**
 * What a request costs: one, and one more for each KiB of its body after the first. Reading a long list takes the
 * processor as long as hundreds of usual requests do. A body of unknown length counts as the longest one of its route.
 */
const costOf = (headers: Readonly<Record<string, string | undefined>>, longest: number): number => {
  const length = headers["content-length"]
  if (length === undefined && headers["transfer-encoding"] === undefined) return 1
  const bytes = length === undefined || !/^\d+$/u.test(length) ? longest : Math.min(Number(length), longest)
  return 1 + Math.max(0, Math.ceil(bytes / 1024) - 1)
}

/** A response costs one more for each of so many bytes after the first. */
const responseBytes = 64 * 1024

/** What a response costs beside its request: a long list takes as long to write as hundreds of short answers. */
const costOfResponse = ({ body }: HttpServerResponse.HttpServerResponse): number => {
  const length = "contentLength" in body ? (body.contentLength ?? 0) : 0
  return Math.max(0, Math.ceil(length / responseBytes) - 1)
}

export const layer = Layer.effect(
  RateLimit,
  Effect.gen(function* () {
    const { requestsPerMinute } = yield* Settings
    if (requestsPerMinute === 0) return RateLimit.of((httpEffect) => httpEffect)
    const buckets = new TokenBuckets(requestsPerMinute)
    const { budgetKey } = yield* ClientAddresses
    const keyOf = Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
      const caller = Context.getOption(context, Caller)
      if (Option.isSome(caller)) return Effect.succeed(`subject ${quotaSubject(caller.value)}`)
      return Effect.succeed(`address ${budgetKey(Context.get(context, HttpServerRequest.HttpServerRequest))}`)
    })
    return RateLimit.of((httpEffect, { endpoint }) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const cost = costOf(headers, Context.get(endpoint.annotations, BodyLimit))
        const key = yield* keyOf
        const { allowed, remaining, retryAfter } = buckets.take(key, yield* Clock.currentTimeMillis, cost)
        yield* HttpEffect.appendPreResponseHandler((_request, response) =>
          Effect.succeed(
            HttpServerResponse.setHeaders(response, {
              "ratelimit-policy": `"caller";q=${requestsPerMinute};w=60`,
              ratelimit: `"caller";r=${remaining};t=${retryAfter}`,
              ...(allowed ? {} : { "retry-after": String(retryAfter) })
            })
          )
        )
        if (!allowed) return yield* new RateLimited({ retry_after: retryAfter })
        const response = yield* httpEffect
        const more = costOfResponse(response)
        if (more > 0) buckets.take(key, yield* Clock.currentTimeMillis, more)
        return response
      })
    )
  })
).pipe(Layer.provide([ClientAddresses.layer]))
