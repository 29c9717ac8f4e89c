import { native } from "@catenet/crypto/native"
import { muxAgent } from "@catenet/testing/edge/Agent"
import { start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import {
  admittedCost,
  refusedCost,
  RegistrationBudget,
  registrationBurst
} from "../../src/sessions/RegistrationBudget.ts"

const T = token("4")
const refusals = registrationBurst / refusedCost

describe("the registrations of one connection", () => {
  it("are a burst, then two refusals or eight admissions a second", () => {
    const budget = new RegistrationBudget(0)
    for (let count = 0; count < refusals; count++) assert.isTrue(budget.spend(refusedCost, 0))
    for (let second = 1; second <= 60; second++) {
      const now = second * 1_000
      if (second % 2 === 0) for (let n = 0; n < 8; n++) assert.isTrue(budget.spend(admittedCost, now))
      else for (let n = 0; n < 2; n++) assert.isTrue(budget.spend(refusedCost, now))
    }
    assert.isFalse(budget.spend(admittedCost, 60_000))
  })

  it.live("end it when they are refused again and again; a connection that is refused less often stays", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const patient = yield* muxAgent(world)
      for (let count = 0; count < refusals; count++) yield* Effect.promise(() => patient.register(T, ["not.zone.test"]))
      const hasty = yield* muxAgent(world)
      for (let count = 0; count < refusals + 8; count++) void hasty.register(T, ["not.zone.test"])
      const { code } = yield* Effect.promise(() => hasty.mux.closed)
      assert.strictEqual(code, "overloaded")
      assert.isFalse(patient.socket.readableEnded)
    }).pipe(Effect.scoped)
  )

  it.live("are refused without arithmetic where key and commitment are of small order", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const agent = yield* muxAgent(world)
      const smallOrder = new Uint8Array(32)
      // Holds by the lenient rule for every message whose hash is a multiple of four, so that some of these would be let in.
      const proof = { publicKey: smallOrder, signature: new Uint8Array(64) }
      const codes = new Set<string>()
      for (let count = 0; count < 32; count++) {
        const named = { token: Buffer.from(T, "hex"), agentId: `small-${count}` }
        const answer = yield* Effect.promise(() => agent.register(T, [], undefined, { ...named, proof }))
        codes.add(answer._tag === "Failure" ? answer.failure.code : "admitted")
      }
      assert.deepStrictEqual(Array.from(codes), ["bad-proof"])
    }).pipe(Effect.scoped)
  )

  it.live("of a revoked token, or of a key that is not enrolled, are refused before the proof is checked", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.admin("POST", "/admin/revoke", { headers: { "x-ct-routing-token": T } }))
      const agent = yield* muxAgent(world)
      const publicKey = native.ed25519.publicKey(new Uint8Array(32).fill(1))
      const proof = { publicKey, signature: new Uint8Array(randomBytes(64)) }
      const answer = yield* Effect.promise(() => agent.register(T, [], undefined, { proof }))
      assert.strictEqual(answer._tag === "Failure" ? answer.failure.code : "admitted", "revoked")
    }).pipe(Effect.scoped)
  )
})
