import { native } from "@catenet/crypto/native"
import { type MuxAgent, muxAgent, readUntil, slotAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { Duplex } from "node:stream"

const T = token("3")
const tunnelHost = "app.zone.test"
const seeds = [1, 2].map((byte) => new Uint8Array(32).fill(byte))
const [first = "", second = ""] = seeds.map((seed) => Buffer.from(native.ed25519.publicKey(seed)).toString("hex"))

const name = (world: TestEdge, keys: ReadonlyArray<string>, proof?: string) =>
  Effect.promise(async () => {
    const path = `/internal/tunnel/agent-keys${proof === undefined ? "" : `?proof=${proof}`}`
    const { status } = await world.admin("POST", path, { headers: { "x-ct-routing-token": T }, body: keys })
    assert.strictEqual(status, 200)
  })

const answerTo = (agent: MuxAgent, seed?: Uint8Array) =>
  Effect.promise(async () => {
    const answer = await agent.register(T, [tunnelHost], seed)
    return Result.isFailure(answer) ? answer.failure.code : answer.success
  })

const registered = (agent: MuxAgent, seed?: Uint8Array) =>
  Effect.map(answerTo(agent, seed), (answer) => {
    if (typeof answer === "string") throw new Error(`refused: ${answer}`)
    return answer
  })

const codeOf = (agent: MuxAgent, seed?: Uint8Array) =>
  Effect.map(answerTo(agent, seed), (answer) => (typeof answer === "string" ? answer : "admitted"))

const parks = (world: TestEdge) =>
  Effect.map(slotAgent(world, T, "L", tunnelHost), ({ parked }) =>
    Result.isFailure(parked) ? undefined : parked.success
  )

const saying = (text: string) => (stream: Duplex) => {
  stream.resume()
  stream.write(text)
}

describe.concurrent("agents of a tunnel whose enrolled agent has proved its key", () => {
  it.live("are admitted by the token alone until then; the edge reports the first proof once", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* name(world, [first])
      const slot = yield* parks(world)
      const agent = yield* muxAgent(world)
      const { withdraw } = yield* registered(agent, seeds[0])
      yield* Effect.promise(() =>
        eventually(async () => world.controlPlane.proved.length > 0, "the control plane hears of the proof")
      )
      assert.deepStrictEqual(world.controlPlane.proved, [{ token: T, key: first }])
      assert.isDefined(slot)

      yield* name(world, [first], "required")
      assert.isTrue(Result.isFailure(yield* Effect.promise(async () => slot?.taken ?? Result.void)))
      assert.isUndefined(yield* parks(world))
      withdraw()
      yield* registered(agent, seeds[0])
      assert.strictEqual(yield* codeOf(yield* muxAgent(world)), "proof-required")
      assert.strictEqual(world.controlPlane.proved.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("are admitted without a proof where the owner allows it, but not with a key that is not enrolled", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* name(world, [first], "lifted")
      assert.isDefined(yield* parks(world))
      assert.strictEqual(yield* codeOf(yield* muxAgent(world)), "admitted")
      assert.strictEqual(yield* codeOf(yield* muxAgent(world), seeds[1]), "bad-proof")
      assert.strictEqual(yield* codeOf(yield* muxAgent(world), seeds[0]), "admitted")
      assert.deepStrictEqual(world.controlPlane.proved, [])
      yield* name(world, [first], "required")
      assert.isUndefined(yield* parks(world))
    }).pipe(Effect.scoped)
  )

  it.live("end with a dropped key, visitors included, and the others keep serving", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* name(world, [first, second], "required")
      const grantee = yield* muxAgent(world, saying("grantee"))
      const session = yield* registered(grantee, seeds[1])
      const visitor = yield* Effect.promise(async () => {
        const socket = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
        const said = readUntil(socket, "grantee")
        socket.write("\x00")
        await said
        return socket
      })
      const cut = new Promise((resolve) => visitor.once("end", resolve).once("close", resolve).resume())
      const owner = yield* muxAgent(world, saying("owner"))
      const { ended } = yield* registered(owner, seeds[0])
      let ownerEnded = false
      void ended.then(() => (ownerEnded = true))

      yield* name(world, [first], "required")
      assert.strictEqual((yield* Effect.promise(() => session.ended)).code, "proof-required")
      yield* Effect.promise(() => cut)
      assert.strictEqual(yield* codeOf(grantee, seeds[1]), "bad-proof")
      assert.isFalse(ownerEnded)

      yield* name(world, [], "required")
      assert.strictEqual((yield* Effect.promise(() => ended)).code, "proof-required")
      assert.strictEqual(yield* codeOf(owner, seeds[0]), "bad-proof")
      assert.strictEqual(yield* codeOf(owner), "proof-required")
      assert.isUndefined(yield* parks(world))
    }).pipe(Effect.scoped)
  )

  it.live("end with a dropped key also where it was the only one", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* name(world, [first])
      const { ended } = yield* registered(yield* muxAgent(world), seeds[0])
      yield* name(world, [])
      assert.strictEqual((yield* Effect.promise(() => ended)).code, "proof-required")
    }).pipe(Effect.scoped)
  )

  it.live("must prove an enrolled key at an edge that restarts", () =>
    Effect.gen(function* () {
      const before = yield* start()
      before.controlPlane.authorizations.push({
        token: T,
        hostname: tunnelHost,
        tier: "gelb",
        policy: null,
        agent_keys: [first],
        agent_proof: "required"
      })
      const restarted = Effect.fnUntraced(function* (processes: string) {
        const world = yield* start({ CT_EDGE_PROCESSES: processes }, { controlPlane: before.controlPlane })
        assert.isUndefined(yield* parks(world))
        assert.strictEqual(yield* codeOf(yield* muxAgent(world)), "proof-required")
        yield* registered(yield* muxAgent(world), seeds[0])
      })
      yield* Effect.forEach(["1", "2"], restarted, { concurrency: 2, discard: true })
    }).pipe(Effect.scoped)
  )
})
