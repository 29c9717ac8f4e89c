/**
 * A renewal that ends at each of its steps on the disk and to the control plane, in turn: the process is killed, or the disk is full.
 * At every moment there is a whole pair, one order is placed, and the control plane hears of its certificate.
 */
import { type Fate, files, http, Steps } from "@catenet/testing/agent/Steps"
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Layer, References } from "effect"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { readdirSync, readFileSync, rmSync } from "node:fs"
import * as CertificateQueueClient from "../../src/certificate/CertificateQueueClient.ts"
import * as Certificates from "../../src/certificate/Certificates.ts"

/** Each step in the campaign; in the gate every so many of them. */
const stride = process.env["CATENET_UPDATES"] === "1" ? 1 : 9
/** Past which there is no step. */
const whole = Number.POSITIVE_INFINITY
const hour = 3_600_000
/** Short, so that the root outlives all renewals. */
const lifetimeMillis = 90 * hour
/** Until a renewal is due. */
const due = 61 * hour

const start = Effect.gen(function* () {
  const live = yield* Clock.Clock
  const time = { at: live.currentTimeMillisUnsafe() }
  let orders = 0
  const stage = yield* AcmeStage.start({
    now: () => time.at,
    lifetimeMillis,
    validate: () => Promise.resolve(),
    meddle: ({ path }, honest) => {
      if (path === "/new-order") orders++
      return honest()
    }
  })
  const { certificates, folder, plane, url } = stage
  /** What a dead process would do later does not happen: its time stands still. */
  const stopped: Clock.Clock = {
    sleep: (duration) => (Duration.isZero(duration) ? live.sleep(duration) : Effect.never),
    currentTimeMillisUnsafe: () => live.currentTimeMillisUnsafe(),
    currentTimeMillis: live.currentTimeMillis,
    currentTimeNanosUnsafe: () => live.currentTimeNanosUnsafe(),
    currentTimeNanos: live.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => live.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: live.monotonicTimeNanos
  }
  const run = <A, E>(of: Effect.Effect<A, E, Effect.Services<ReturnType<typeof Certificates.look>>>, steps: Steps) =>
    Effect.promise(() =>
      Promise.race([
        Effect.runPromise(
          of.pipe(
            Effect.catch(() => Effect.undefined),
            Effect.provide(CertificateQueueClient.CertificateQueueClient.layer(url).pipe(Layer.provide(http(steps)))),
            Effect.provide(files(steps)),
            Effect.provideService(Clock.Clock, stopped),
            Effect.provideService(References.MinimumLogLevel, "Fatal")
          )
        ),
        steps.reached.promise
      ])
    )
  return {
    look: (steps = new Steps(whole, "killed")) => run(Certificates.look(certificates), steps),
    /** As a serving agent does when it starts. */
    repair: run(Certificates.repair(certificates.places), new Steps(whole, "killed")),
    /** The system frees the lock of a process that is killed. */
    unlock: () => rmSync(`${folder}/.acme.lock`, { force: true }),
    pass: () => {
      time.at += due
      plane.date = time.at
    },
    orders: () => orders,
    completes: () => plane.completes,
    leaf: () => {
      const leaf = new X509Certificate(readFileSync(`${folder}/fullchain.pem`))
      assert.isTrue(leaf.checkPrivateKey(createPrivateKey(readFileSync(`${folder}/privkey.pem`))), "a pair")
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => /\.(?:new|old)$/.test(name)),
        []
      )
      return leaf.fingerprint256
    }
  }
})

describe("a renewal", () => {
  for (const fate of ["killed", "disk full"] satisfies ReadonlyArray<Fate>)
    it.live(`that is ended at each step (${fate}) leaves a whole pair, one order, and one certificate`, () =>
      Effect.gen(function* () {
        const { completes, leaf, look, orders, pass, repair, unlock } = yield* start
        pass()
        yield* look()
        let steps = 0
        for (let isOver = false; !isOver; steps += stride) {
          const [old, placed, heard] = [leaf(), orders(), completes()]
          pass()
          const ended = new Steps(steps, fate)
          yield* look(ended)
          isOver = ended.count <= steps
          unlock()
          yield* repair
          leaf()
          yield* look()
          const at = `step ${steps} of ${ended.count}`
          assert.notStrictEqual(leaf(), old, at)
          assert.strictEqual(orders(), placed + 1, at)
          assert.isAbove(completes(), heard, at)
        }
        assert.isAbove(steps, 60)
      }).pipe(Effect.scoped)
    )
})
