import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger } from "effect"
import { HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as DnsProofRetry from "../../src/certificate/DnsProofRetry.ts"

const request = HttpClientRequest.post("http://plane.example/agent/dns01-challenge")

/** An answer that is none of the API's. */
const answer = (status: number, retryAfter?: string) => {
  const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter }
  const response = HttpClientResponse.fromWeb(request, new Response("", { status, headers }))
  const reason = new HttpClientError.StatusCodeError({ request, response })
  return new HttpClientError.HttpClientError({ reason })
}

/** Seconds at which the control plane is asked while it answers so, and what the log says. */
const asked = (error: HttpClientError.HttpClientError, seconds: number) =>
  Effect.gen(function* () {
    const at: Array<number> = []
    const lines: Array<string> = []
    const clock = yield* TestClock.testClockWith(Effect.succeed)
    const publish = Effect.suspend(() => {
      at.push(clock.currentTimeMillisUnsafe() / 1000)
      return Effect.fail(error)
    })
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    const fiber = yield* Effect.forkChild(Effect.provide(DnsProofRetry.retry(publish), Logger.layer([logger])))
    yield* TestClock.adjust(`${seconds} seconds`)
    yield* Fiber.interrupt(fiber)
    return { at, lines }
  })

describe("a publication that was not answered", () => {
  it.effect("is repeated with a growing pause, and each repetition is logged", () =>
    Effect.gen(function* () {
      const { at, lines } = yield* asked(answer(502), 91)
      assert.deepStrictEqual(at, [0, 2, 6, 14, 30, 60, 90])
      assert.lengthOf(lines, at.length)
      assert.match(lines[0] ?? "", /could not publish the proof in DNS, and is asked again in 2 s: .*502/u)
    })
  )

  it.effect("is repeated no sooner than Retry-After asks, in seconds", () =>
    Effect.gen(function* () {
      for (const status of [429, 502, 503])
        assert.deepStrictEqual((yield* asked(answer(status, "20"), 41)).at.length, 3)
    })
  )

  it.effect("is repeated at the date that Retry-After names, and from then on as without one", () =>
    Effect.gen(function* () {
      const { at } = yield* asked(answer(503, "Thu, 01 Jan 1970 00:00:20 GMT"), 41)
      assert.deepStrictEqual(at, [0, 20, 24, 32])
    })
  )

  it.effect("is not repeated where the answer is no", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(DnsProofRetry.retry(Effect.fail(answer(400, "1"))))
      assert.strictEqual(refused.response?.status, 400)
    })
  )
})
