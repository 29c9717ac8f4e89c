/** One account key at several authorities, and an authority that says when it wants to be asked again. */
import * as PassingTime from "@catenet/testing/agent/PassingTime"
import type { ServerOptions } from "@catenet/testing/stack/acme/AcmeStage"
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync, rmSync } from "node:fs"
import * as CertificateLoop from "../../src/certificate/CertificateLoop.ts"
import type { CertificateProgress } from "../../src/certificate/CertificateProgress.ts"
import * as Certificates from "../../src/certificate/Certificates.ts"

/** A stage, and the paths of its authority that were asked for. */
const start = Effect.fnUntraced(function* (options: ServerOptions = {}) {
  const asked: Array<string> = []
  const stage = yield* AcmeStage.start({
    ...options,
    meddle: ({ path }, honest) => {
      asked.push(path)
      return honest()
    }
  })
  const count = (path: string) => asked.filter((each) => each === path).length
  return { ...stage, count, directory: stage.plane.directory }
})

interface State {
  readonly accounts: ReadonlyArray<{ readonly directory: string; readonly thumbprint: string; readonly url: string }>
}

const proved = { validate: () => Promise.resolve() }
const hmac = Buffer.from("a key of the operator's")
const binding = { kid: "kid-1", hmac }

describe("an agent's account", () => {
  it.live("is one key, with an address for each of two directories; a binding is asked for once", () =>
    Effect.gen(function* () {
      const first = yield* start(proved)
      const second = yield* start({ ...proved, binding })
      const { certificates, folder, layer, plane } = first
      const look = Certificates.look({ ...certificates, roots: first.issuer.root + second.issuer.root }).pipe(
        Effect.provide(layer)
      )
      const key = () => readFileSync(certificates.places.accountKey).toString("hex")
      const keys = new Set<string>()
      const orderAt = Effect.fnUntraced(function* ({ directory }: { readonly directory: string }) {
        plane.directory = directory
        plane.binding =
          directory === second.directory ? { kid: binding.kid, hmac: hmac.toString("base64url") } : undefined
        rmSync(`${folder}/fullchain.pem`, { force: true })
        assert.strictEqual((yield* look)?._tag, "Issued")
        keys.add(key())
        const { accounts }: State = JSON.parse(readFileSync(`${folder}/acme-state.json`, "utf8"))
        return accounts
      })
      for (const each of [first, second]) yield* orderAt(each)
      const accounts = yield* orderAt(first)
      yield* orderAt(second)
      assert.strictEqual(keys.size, 1)
      assert.sameMembers(
        accounts.map(({ directory }) => directory),
        [first.directory, second.directory]
      )
      assert.strictEqual(new Set(accounts.map(({ url }) => url)).size, 2)
      assert.strictEqual(new Set(accounts.map(({ thumbprint }) => thumbprint)).size, 1)
      for (const { count } of [first, second])
        assert.deepStrictEqual([count("/new-account"), count("/new-order")], [1, 2])
    }).pipe(Effect.scoped)
  )

  it.live("that is at its limit is given back with the reason, and the next authority issues at once", () =>
    Effect.gen(function* () {
      const first = yield* start({ ...proved, limit: { orders: 0, seconds: 120 } })
      const second = yield* start(proved)
      const { certificates, layer, plane } = first
      plane.onFailure = () => {
        plane.ca = "second"
        plane.directory = second.directory
      }
      const look = Certificates.look({ ...certificates, roots: first.issuer.root + second.issuer.root })
      assert.strictEqual((yield* Effect.provide(look, layer))?._tag, "Issued")
      assert.lengthOf(plane.failures, 1)
      assert.deepInclude(plane.failures[0], { ca: "stage", reason: "rate-limited", retry_after: 120 })
      assert.deepStrictEqual([first.count("/new-order"), second.count("/new-order")], [1, 1])
    }).pipe(Effect.scoped)
  )

  it.effect("that is at its limit with no other authority is not asked before the time that was said", () =>
    Effect.gen(function* () {
      const clock = yield* TestClock.testClockWith(Effect.succeed)
      yield* clock.setTime(yield* TestClock.withLive(Clock.currentTimeMillis))
      const seconds = 600
      const { certificates, count, layer } = yield* start({ ...proved, limit: { orders: 0, seconds } })
      const said: Array<string> = []
      const progress: CertificateProgress = {
        step: () => Effect.succeed(true),
        report: (words) => Effect.sync(() => void said.push(words))
      }
      yield* CertificateLoop.run({ ...certificates, progress }).pipe(Effect.provide(layer), Effect.forkScoped)
      const passing = (holds: () => boolean) => TestClock.withLive(PassingTime.passing(clock, holds))
      yield* passing(() => said.length > 0)
      assert.match(
        said[0] ?? "",
        /^was not issued: localhost:\d+ refused \(rateLimited\): "too many orders"; its limit is reached; wait, or let the control plane choose another authority\. The next attempt is at \d{4}-/
      )
      const refusedAt = clock.currentTimeMillisUnsafe()
      assert.strictEqual(count("/new-order"), 1)
      yield* passing(() => count("/new-order") > 1)
      assert.isAtLeast(clock.currentTimeMillisUnsafe() - refusedAt, (seconds - 30) * 1000)
    }).pipe(Effect.scoped)
  )
})
