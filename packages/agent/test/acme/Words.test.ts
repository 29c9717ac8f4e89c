/** What an agent says while it orders, to its log, its `/status` and the portal; each continues "the certificate". */
import * as PassingTime from "@catenet/testing/agent/PassingTime"
import { until } from "@catenet/testing/Eventually"
import type * as AcmePlane from "@catenet/testing/stack/acme/AcmePlane"
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { createPrivateKey, createPublicKey, hash } from "node:crypto"
import { readFileSync } from "node:fs"
import * as CertificateLoop from "../../src/certificate/CertificateLoop.ts"
import * as CertificateProgress from "../../src/certificate/CertificateProgress.ts"
import { CertificateQueueClient } from "../../src/certificate/CertificateQueueClient.ts"

/** An agent that proves by DNS, and its words in their order. */
const start = Effect.fnUntraced(function* (
  options: AcmeStage.ServerOptions,
  before: (plane: AcmePlane.Plane) => void = () => {},
  change: (admission: CertificateQueueClient["Service"]) => CertificateQueueClient["Service"] = (admission) => admission
) {
  const clock = yield* TestClock.testClockWith(Effect.succeed)
  yield* clock.setTime(yield* TestClock.withLive(Clock.currentTimeMillis))
  const stage = yield* AcmeStage.start(options)
  const { certificates, layer, plane } = stage
  plane.dns = () => Promise.resolve(undefined)
  before(plane)
  const said: Array<string> = []
  yield* Effect.gen(function* () {
    const progress = yield* CertificateProgress.make(certificates, certificates.places, (words) => said.push(words))
    yield* CertificateLoop.run({ ...certificates, methods: ["dns-01"], progress })
  }).pipe(Effect.updateService(CertificateQueueClient, change), Effect.provide(layer), Effect.forkScoped)
  const passing = (holds: () => boolean) => TestClock.withLive(PassingTime.passing(clock, holds))
  /** In real time: none passes for the agent, which waits for its control plane by the clock. */
  const happens = (holds: () => boolean) => TestClock.withLive(until(Effect.void, holds, "5 millis"))
  return { certificates, happens, passing, plane, said }
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
      const { certificates, happens, passing, plane, said } = yield* start({ validate: () => Promise.resolve() })
      yield* happens(() => plane.steps.length === ordering.length)
      yield* passing(() => said.length > ordering.length)
      assert.deepStrictEqual(said.slice(0, -1), ordering)
      assert.match(said.at(-1) ?? "", new RegExp(`^is there until ${moment}, and is renewed from ${moment} on$`))
      const { accountKey } = certificates.places
      const key = createPublicKey(createPrivateKey({ key: readFileSync(accountKey), format: "der", type: "pkcs8" }))
      const agent = hash("sha256", key.export({ type: "spki", format: "der" })).slice(0, 16)
      assert.deepStrictEqual(
        plane.steps.map((said) => [said.step, said.agent]),
        ["ordering", "waiting-for-dns", "waiting-for-ca"].map((step) => [step, agent])
      )
    }).pipe(Effect.scoped)
  )

  it.effect("waits while another agent of the tunnel is in an order, and orders when that is over", () =>
    Effect.gen(function* () {
      const { happens, passing, plane, said } = yield* start({ validate: () => Promise.resolve() }, (plane) => {
        plane.isOthersTurn = true
      })
      yield* happens(() => said.length > 0)
      assert.deepStrictEqual(said, [
        "cannot be ordered yet: the name is edge-terminated (gelb); it is being proved by another agent of this tunnel"
      ])
      assert.deepStrictEqual(
        plane.steps.map(({ step }) => step),
        ["ordering"]
      )
      plane.isOthersTurn = false
      yield* passing(() => said.length > 1 + ordering.length)
      assert.deepStrictEqual(said.slice(1, -1), ordering)
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

  it.effect("goes on after a fault of its own", () =>
    Effect.gen(function* () {
      let faults = 0
      const { passing, plane, said } = yield* start(
        { validate: () => Promise.resolve() },
        () => {},
        ({ ask, ...admission }) => ({
          ...admission,
          ask: (asked) => (faults++ === 0 ? Effect.die(new Error("a fault")) : ask(asked))
        })
      )
      yield* passing(() => plane.completes > 0)
      assert.match(said[0] ?? "", /^could not be looked after: This agent has a fault, .* The next attempt is at /)
    }).pipe(Effect.scoped)
  )
})
