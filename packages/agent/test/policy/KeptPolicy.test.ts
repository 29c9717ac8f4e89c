/** How an agent keeps the policy of its tunnel: when it asks, what it enforces meanwhile, and for how long. */
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { allOff } from "@catenet/domain/edges/TunnelOptions"
import { TunnelPolicy } from "@catenet/domain/tunnels/TunnelPolicy"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { statSync, writeFileSync } from "node:fs"
import * as KeptPolicy from "../../src/policy/KeptPolicy.ts"
import type { Fetched, PolicyClient } from "../../src/policy/PolicyClient.ts"
import { temporaryFolders } from "../harness/TemporaryFolders.ts"

const temporaryFolder = temporaryFolders("ct-policy-")

const policyOf = (revision: number, more: Partial<TunnelPolicy> = {}) =>
  new TunnelPolicy({
    revision,
    require_login: false,
    sign_in: null,
    share_epoch: 0,
    access: null,
    options: allOff,
    ...more
  })

/** A control plane whose answer can be changed; `undefined` is away. */
const plane = (first: TunnelPolicy | undefined) => {
  const state = { policy: first, asked: 0 }
  const unused = () => Effect.die("not asked here")
  const client: PolicyClient = {
    redeem: unused,
    caller: unused,
    session: unused,
    endSession: unused,
    fetch: (etag) =>
      Effect.suspend((): Effect.Effect<Fetched, Error> => {
        state.asked += 1
        const { policy } = state
        if (policy === undefined) return Effect.fail(new Error("away"))
        const known = `"${policy.revision}"`
        return Effect.succeed(etag === known ? { _tag: "Unchanged" } : { _tag: "Changed", policy, etag: known })
      })
  }
  return { state, client }
}

/** A file in memory. */
const fileOf = (): KeptPolicy.PolicyFile => {
  let kept: KeptPolicy.Stored | undefined
  return {
    read: Effect.sync(() => kept),
    write: (stored) =>
      Effect.sync(() => {
        kept = stored
      })
  }
}

const start = (client: PolicyClient, file: KeptPolicy.PolicyFile, maxAgeSeconds = 86_400, tunnel = "t") =>
  KeptPolicy.make({ client, file, tunnel, maxAgeSeconds })

const second = TestClock.adjust("1 second")

const test = (name: string, body: (file: KeptPolicy.PolicyFile) => Effect.Effect<void, unknown, Scope.Scope>) =>
  it.effect(name, () => Effect.scoped(Effect.suspend(() => body(fileOf()))))

describe("the policy that an agent keeps", () => {
  test("is fetched at the start and when an edge announces a newer or an unknown revision, and not otherwise", (file) =>
    Effect.gen(function* () {
      const { client, state } = plane(policyOf(3))
      const kept = yield* start(client, file)
      yield* second
      assert.deepStrictEqual([state.asked, kept.policy?.revision], [1, 3])
      for (const [revision, asks] of [
        [2n, 0],
        [3n, 0],
        [4n, 1],
        [0n, 1]
      ] as const) {
        const before = state.asked
        kept.announced(revision)
        yield* second
        assert.strictEqual(state.asked - before, asks, `revision ${revision}`)
      }
    }))

  test("is asked for twice a minute while one registration has an edge that announces nothing, else every ten minutes", (file) =>
    Effect.gen(function* () {
      const { client, state } = plane(policyOf(1))
      const kept = yield* start(client, file)
      kept.joined(true)
      const left = kept.joined(false)
      yield* second
      const begun = state.asked
      yield* TestClock.adjust("5 minutes")
      assert.approximately(state.asked - begun, 10, 1)
      left()
      yield* TestClock.adjust("1 minute")
      const later = state.asked
      yield* TestClock.adjust("30 minutes")
      assert.approximately(state.asked - later, 3, 1)
    }))

  it.effect("is kept in a private file; one that cannot be read is none", () =>
    Effect.gen(function* () {
      const folder = temporaryFolder()
      const file = yield* KeptPolicy.fileIn(folder)
      assert.isUndefined(yield* file.read)
      const access = new AccessPolicy({ expires_at: UnixSeconds.make(5), schedule: null })
      const stored = { tunnel: "t", etag: '"e"', confirmed_at: UnixSeconds.make(9), policy: policyOf(7, { access }) }
      yield* file.write(stored)
      assert.deepStrictEqual(yield* file.read, stored)
      assert.strictEqual(statSync(`${folder}/policy.json`).mode & 0o777, 0o600)
      writeFileSync(`${folder}/policy.json`, "{")
      assert.isUndefined(yield* file.read)
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  test("is enforced from its file at a start while the control plane is away", (file) =>
    Effect.gen(function* () {
      const closed = new AccessPolicy({ expires_at: UnixSeconds.make(5), schedule: null })
      const first = plane(policyOf(7, { require_login: true, access: closed, sign_in: "https://portal/gate/start" }))
      yield* Effect.scoped(Effect.andThen(start(first.client, file), second))
      const kept = yield* start(plane(undefined).client, file)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([kept.isGated, kept.isCurrent, kept.isHttpOnly], [true, true, true])
      assert.strictEqual(kept.closed?.window.expires_at, 5)
      const ofAnother = yield* start(plane(undefined).client, file, 86_400, "another tunnel")
      assert.isUndefined(ofAnother.policy)
    }))

  test("is current for as long as was set after it was confirmed last, and not a second longer", (file) =>
    Effect.gen(function* () {
      const { client, state } = plane(policyOf(1, { require_login: true }))
      const kept = yield* start(client, file, 3_600)
      yield* TestClock.adjust("20 minutes")
      state.policy = undefined
      const since = kept.stored?.confirmed_at ?? 0
      const age = Effect.map(
        Effect.clockWith((clock) => clock.currentTimeMillis),
        (now) => Math.floor(now / 1000) - since
      )
      yield* TestClock.adjust(`${3_600 - (yield* age)} seconds`)
      assert.isTrue(kept.isCurrent)
      yield* second
      assert.isFalse(kept.isCurrent)
      assert.isTrue(kept.isGated, "and the host stays gated")
      state.policy = policyOf(1, { require_login: true })
      yield* TestClock.adjust("1 minute")
      assert.isTrue(kept.isCurrent, "once the control plane is back")
    }))

  test("is gated while an edge says so and the control plane has not said otherwise since", (file) =>
    Effect.gen(function* () {
      const { client, state } = plane(policyOf(1))
      const kept = yield* start(client, file)
      yield* second
      state.policy = undefined
      kept.gatedByEdge()
      yield* TestClock.adjust("1 hour")
      assert.isTrue(kept.isGated)
      state.policy = policyOf(1)
      yield* TestClock.adjust("1 minute")
      assert.isFalse(kept.isGated)
    }))

  test("tells of each change", (file) =>
    Effect.gen(function* () {
      const { client, state } = plane(policyOf(1))
      const kept = yield* start(client, file)
      const seen: Array<number | undefined> = []
      kept.onChange((before) => void seen.push(before?.revision))
      yield* second
      state.policy = policyOf(2)
      kept.announced(2n)
      yield* second
      kept.announced(0n)
      yield* second
      assert.deepStrictEqual(seen, [undefined, 1])
    }))
})
