/** The clock of an agent's machine is set forward and back by a year, as it is where a battery is empty or a hand slips. */
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import * as Certificates from "../../src/certificate/Certificates.ts"

const day = 86_400_000
const year = 365 * day

/** An agent whose clock can be set, and an authority and a control plane whose clocks are right. */
const start = Effect.fnUntraced(function* (own: boolean) {
  const live = yield* Clock.Clock
  const clock = { passed: 0, set: 0 }
  const right = () => live.currentTimeMillisUnsafe() + clock.passed
  const shown = () => right() + clock.set
  let orders = 0
  const stage = yield* AcmeStage.start({
    now: right,
    meddle: async ({ path }, honest) => {
      if (path === "/new-order") orders++
      const reply = await honest()
      return { ...reply, headers: { ...reply.headers, date: new Date(right()).toUTCString() } }
    }
  })
  const { certificates, folder, layer, plane } = stage
  plane.away = own
  const authority = own ? { directory: plane.directory, binding: undefined } : undefined
  const stepped: Clock.Clock = {
    sleep: (duration) => live.sleep(duration),
    currentTimeMillisUnsafe: shown,
    currentTimeMillis: Effect.sync(shown),
    currentTimeNanosUnsafe: () => BigInt(Math.floor(shown())) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(Math.floor(shown())) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => live.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: live.monotonicTimeNanos
  }
  const look = Effect.suspend(() => {
    plane.date = right()
    return Certificates.look({ ...certificates, authority })
  }).pipe(
    Effect.provideService(Clock.Clock, stepped),
    Effect.provide(layer),
    // The control plane, where it is away, hears of the certificate later.
    Effect.catchTag("Unreachable", () => Effect.undefined)
  )
  return {
    clock,
    look,
    right,
    orders: () => orders,
    leaf: () => new X509Certificate(readFileSync(`${folder}/fullchain.pem`))
  }
})

describe("an agent whose clock is set by a year", () => {
  const cases = [
    { own: false, name: "orders nothing twice, and lets nothing end unseen" },
    { own: true, name: "and who has an authority of the user's own, does the same while the control plane is away" }
  ]
  for (const { name, own } of cases)
    it.live(name, () =>
      Effect.gen(function* () {
        const { clock, leaf, look, orders, right } = yield* start(own)
        yield* look
        const first = leaf().fingerprint256
        for (const set of [year, -year]) {
          clock.set = set
          for (const days of [0, 30]) {
            clock.passed = days * day
            yield* look
            assert.strictEqual(orders(), 1, `${set / day} ${days}`)
            assert.strictEqual(leaf().fingerprint256, first)
          }
        }
        for (const [index, set] of [-year, year].entries()) {
          clock.set = set
          clock.passed += 61 * day
          yield* look
          assert.strictEqual(orders(), index + 2)
          assert.isAbove(leaf().validToDate.getTime(), right() + 80 * day)
          yield* look
          assert.strictEqual(orders(), index + 2)
        }
      }).pipe(Effect.scoped)
    )
})
