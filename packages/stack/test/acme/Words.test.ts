/** What an agent says while it orders, to its log, its `/status` and the portal; each continues "the certificate". */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as CertificateLoop from "../../../agent/src/certificate/CertificateLoop.ts"
import * as Progress from "../../../agent/src/certificate/Progress.ts"
import { until } from "../../../domain/test/Eventually.ts"
import * as AcmeStage from "./AcmeStage.ts"

/** An agent that proves by DNS, and its words in their order. */
const start = Effect.fnUntraced(function* (options: AcmeStage.ServerOptions) {
  const clock = yield* TestClock.testClockWith(Effect.succeed)
  yield* clock.setTime(yield* TestClock.withLive(Clock.currentTimeMillis))
  const stage = yield* AcmeStage.start(options)
  const { certificates, layer, plane } = stage
  plane.dns = () => Promise.resolve(undefined)
  const said: Array<string> = []
  yield* Effect.gen(function* () {
    const progress = yield* Progress.make(certificates, certificates.places, (words) => said.push(words))
    yield* CertificateLoop.run({ ...certificates, methods: ["dns-01"], progress })
  }).pipe(Effect.provide(layer), Effect.forkScoped)
  const passing = (holds: () => boolean) =>
    TestClock.withLive(until(Effect.as(clock.adjust("5 seconds"), undefined), holds, "5 millis"))
  return { passing, plane, said }
})

const ordering = [
  "is being ordered",
  "is being ordered: waiting for DNS to show the proof of the name",
  "is being ordered: waiting for the authority to decide"
]
const moment = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d UTC`

describe("an agent in an order", () => {
  it.effect("says each step of it, and until when the certificate is there", () =>
    Effect.gen(function* () {
      const { passing, said } = yield* start({ validate: () => Promise.resolve() })
      yield* passing(() => said.length > ordering.length)
      assert.deepStrictEqual(said.slice(0, -1), ordering)
      assert.match(said.at(-1) ?? "", new RegExp(`^is there until ${moment}, and is renewed from ${moment} on$`))
    }).pipe(Effect.scoped)
  )

  it.effect("says that the order stays open where the authority does not decide, and when it looks again", () =>
    Effect.gen(function* () {
      const { passing, plane, said } = yield* start({ validate: () => new Promise(() => {}) })
      yield* passing(() => said.length > ordering.length)
      assert.deepStrictEqual(said.slice(0, -1), ordering)
      assert.match(
        said.at(-1) ?? "",
        new RegExp(
          String.raw`^was not issued: localhost:\d+ did not decide about app\.zone\.test within 300 seconds; the order stays open\. ` +
            `The next attempt is at ${moment}$`
        )
      )
      assert.deepInclude(plane.failures[0], { reason: "ca-unavailable" })
    }).pipe(Effect.scoped)
  )
})
