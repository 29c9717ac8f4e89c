import { native } from "@catenet/crypto/native"
import { muxAgent, readAll, readUntil, servingAgent, slotAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, start, temporaryFolder, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import type { Duplex } from "node:stream"

const T = token("3")
const tunnelHost = "app.zone.test"

const ask = (world: TestEdge, text = "ping\n") =>
  Effect.promise(async () => {
    const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
    const answer = readAll(visitor)
    visitor.write(`\x00${text}`)
    const said = await answer
    visitor.end()
    return said.toString()
  })

const saying = (text: string) => (stream: Duplex) => {
  stream.once("data", () => stream.end(text))
  stream.resume()
}

describe("agents", () => {
  it.live("get the reason of a refusal", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(token("4"), tunnelHost))
      const agent = yield* muxAgent(world)
      for (const [hosts, code] of [
        [["unknown.zone.test"], "host-not-authorized"],
        [[tunnelHost], "host-taken"],
        [["not a host"], "host-malformed"]
      ] as const) {
        const answer = yield* Effect.promise(() => agent.register(T, hosts))
        assert.strictEqual(Result.isFailure(answer) ? answer.failure.code : "admitted", code)
      }
      yield* Effect.promise(() => world.admin("POST", `/admin/revoke/${T}`))
      const revoked = yield* Effect.promise(() => agent.register(T, []))
      assert.strictEqual(Result.isFailure(revoked) ? revoked.failure.code : "admitted", "revoked")
      const unknown = yield* Effect.promise(() => agent.register(token("9"), []))
      assert.isTrue(Result.isSuccess(unknown))
    }).pipe(Effect.scoped)
  )

  it.live("of the byte protocol serve one visitor for each slot, on both ports", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      for (const [role, port] of [
        ["B", world.mesh],
        ["L", world.mesh],
        ["F", world.mesh],
        ["L", world.frontDoor]
      ] as const) {
        const { parked } = yield* slotAgent(world, T, role, tunnelHost, port)
        if (Result.isFailure(parked)) throw new Error(`refused: ${parked.failure.reason}`)
        yield* Effect.promise(() =>
          eventually(async () => {
            const { body } = await world.admin("GET", `/admin/tunnel-status/${T}`)
            return JSON.stringify(body).includes('"fallback_parked":1')
          }, "the slot is parked")
        )
        void parked.success.taken.then((taken) => {
          if (Result.isSuccess(taken)) saying(`from ${role}`)(taken.success)
        })
        assert.strictEqual(yield* ask(world), `from ${role}`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("of the byte protocol serve a host that they spell another way", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      for (const spelled of [tunnelHost.toUpperCase(), `${tunnelHost}.`, ` ${tunnelHost} `]) {
        const { parked } = yield* slotAgent(world, T, "L", spelled)
        if (Result.isFailure(parked)) throw new Error(`refused: ${parked.failure.reason}`)
        void parked.success.taken.then((taken) => {
          if (Result.isSuccess(taken)) saying(`as ${spelled}`)(taken.success)
        })
        assert.strictEqual(yield* ask(world), `as ${spelled}`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("of the byte protocol hear NO for a host that is not theirs and for a revoked token", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(token("4"), tunnelHost))
      const taken = yield* slotAgent(world, T, "L", tunnelHost)
      assert.isTrue(Result.isFailure(taken.parked) && taken.parked.failure.reason === "no")
      yield* Effect.promise(() => world.admin("POST", `/admin/revoke/${token("4")}`))
      const revoked = yield* slotAgent(world, token("4"), "L", tunnelHost)
      assert.isTrue(Result.isFailure(revoked.parked) && revoked.parked.failure.reason === "no")
    }).pipe(Effect.scoped)
  )

  it.live("of one token share the visitors, and one that dies is replaced by the other", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const hold = (stream: { write: (text: string) => void; resume: () => void }) => {
        stream.resume()
        stream.write("open")
      }
      const first = yield* servingAgent(world, T, [tunnelHost], hold)
      const second = yield* servingAgent(world, T, [tunnelHost], hold)
      for (let visitors = 0; visitors < 4; visitors++) {
        yield* Effect.promise(async () => {
          const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
          const opened = readUntil(visitor, "open")
          visitor.write("\x00")
          await opened
        })
      }
      assert.deepStrictEqual([first.streams.length, second.streams.length], [2, 2])
      first.mux.close("normal")
      yield* Effect.promise(() =>
        eventually(async () => {
          const { body } = await world.admin("GET", `/admin/tunnel-status/${T}`)
          return JSON.stringify(body).includes('"registrations":1')
        }, "one registration is left")
      )
      yield* Effect.promise(async () => {
        const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
        const opened = readUntil(visitor, "open")
        visitor.write("\x00")
        await opened
      })
      assert.strictEqual(second.streams.length, 3)
    }).pipe(Effect.scoped)
  )

  it.live("that prove the key that owns the tunnel get its visitors before agents that only know the token", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const seeds = [1, 2].map((byte) => new Uint8Array(32).fill(byte))
      const life = Effect.fn("life")(function* (order: ReadonlyArray<number>) {
        const world = yield* start({}, { folder })
        yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
        const agents = yield* Effect.forEach([0, 1, 2], (name) => muxAgent(world, saying(`agent ${name}`)))
        for (const name of order) {
          const admitted = yield* Effect.promise(async () => agents[name]?.register(T, [tunnelHost], seeds[name]))
          assert.isTrue(admitted !== undefined && Result.isSuccess(admitted))
        }
        const heard = [yield* ask(world), yield* ask(world), yield* ask(world)]
        agents[0]?.mux.close("normal")
        yield* Effect.promise(() =>
          eventually(async () => {
            const { body } = await world.admin("GET", `/admin/tunnel-status/${T}`)
            return JSON.stringify(body).includes('"registrations":2')
          }, "the owner is gone")
        )
        assert.notStrictEqual(yield* ask(world), "agent 0")
        return heard
      }, Effect.scoped)
      const owner = ["agent 0", "agent 0", "agent 0"]
      assert.deepStrictEqual(yield* life([0, 1, 2]), owner)
      assert.deepStrictEqual(yield* life([2, 1, 0]), owner)
    }).pipe(Effect.scoped)
  )

  it.live(
    "must prove an enrolled key where the control plane names some; an agent with the token alone is refused",
    () =>
      Effect.gen(function* () {
        const enrolled = new Uint8Array(32).fill(1)
        const other = new Uint8Array(32).fill(2)
        const key = (seed: Uint8Array) => Buffer.from(native.ed25519.publicKey(seed)).toString("hex")
        const authorization = { token: T, hostname: tunnelHost, tier: "gelb", policy: null }
        const world = yield* start()
        yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
        const thief = yield* servingAgent(world, T, [tunnelHost], saying("thief"))
        const name = (keys: ReadonlyArray<string>) =>
          world.admin("POST", "/internal/tunnel/agent-keys", { headers: { "x-ct-routing-token": T }, body: keys })
        assert.strictEqual((yield* Effect.promise(() => name([key(enrolled)]))).status, 200)
        assert.strictEqual((yield* Effect.promise(() => thief.registration.ended)).code, "proof-required")
        world.controlPlane.authorizations.push({ ...authorization, agent_keys: [key(enrolled)] })
        const restarted = yield* start({ CT_EDGE_REQUIRE_AGENT_PROOF: "1" }, { controlPlane: world.controlPlane })
        for (const edge of [world, restarted]) {
          const agent = yield* muxAgent(edge, saying("enrolled"))
          const code = async (seed?: Uint8Array) => {
            const answer = await agent.register(T, [tunnelHost], seed)
            return Result.isFailure(answer) ? answer.failure.code : "admitted"
          }
          assert.strictEqual(yield* Effect.promise(() => code()), "proof-required")
          assert.strictEqual(yield* Effect.promise(() => code(other)), "bad-proof")
          assert.strictEqual(yield* Effect.promise(() => code(enrolled)), "admitted")
          assert.strictEqual(yield* ask(edge), "enrolled")
        }
        const slot = (yield* slotAgent(restarted, T, "L", tunnelHost)).parked
        assert.isTrue(Result.isFailure(slot) && slot.failure.reason === "no")
        yield* Effect.promise(() => name([]))
        assert.isTrue(Result.isSuccess(yield* Effect.promise(() => thief.register(T, [tunnelHost]))))
      }).pipe(Effect.scoped)
  )

  it.live("with a proof that does not hold are refused", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const agent = yield* muxAgent(world)
      const answer = yield* Effect.promise(() =>
        agent.mux.register({
          token: Buffer.from(T, "hex"),
          hosts: [],
          agentId: "test",
          wishes: { proxyProtocol: false },
          proof: { publicKey: native.ed25519.publicKey(new Uint8Array(32)), signature: new Uint8Array(64) }
        })
      )
      assert.strictEqual(Result.isFailure(answer) ? answer.failure.code : "admitted", "bad-proof")
    }).pipe(Effect.scoped)
  )

  it.live("that fall silent lose their visitors within five seconds when another one can serve them", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const frozen = yield* servingAgent(world, T, [tunnelHost], saying("too late"))
      frozen.socket.pause()
      const waiting = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      const torn = new Promise((resolve) => waiting.once("close", resolve).once("end", resolve))
      waiting.write("\x00ping")
      yield* Effect.promise(() =>
        eventually(async () => (await world.metrics())["ct_edge_active_relays"] === 1, "it waits for the silent one")
      )
      yield* servingAgent(world, T, [tunnelHost], saying("here"))
      const before = performance.now()
      yield* Effect.promise(() => torn)
      assert.isBelow(performance.now() - before, onThisMachine(5_000))
      assert.strictEqual(yield* ask(world), "here")
    }).pipe(Effect.scoped)
  )

  it.live("that reconnect within the delivery wait get the waiting visitor", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const first = yield* servingAgent(world, T, [tunnelHost])
      first.mux.close("normal")
      yield* Effect.promise(() =>
        eventually(async () => {
          const { body } = await world.admin("GET", `/admin/tunnel-status/${T}`)
          return JSON.stringify(body).includes('"connected":false')
        }, "the agent is gone")
      )
      const answer = yield* Effect.forkChild(ask(world))
      yield* Effect.promise(() =>
        eventually(async () => ((await world.metrics())["ct_edge_visitor_connections"] ?? 0) > 0, "a visitor waits")
      )
      yield* servingAgent(world, T, [tunnelHost], saying("late but here"))
      assert.strictEqual(yield* Fiber.join(answer), "late but here")
    }).pipe(Effect.scoped)
  )

  it.live("lose everything at once when their token is revoked", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const agent = yield* servingAgent(world, T, [tunnelHost], (stream) => {
        stream.resume()
        stream.write("open")
      })
      const visitors = yield* Effect.promise(() =>
        Promise.all(
          [1, 2, 3].map(async () => {
            const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
            const opened = readUntil(visitor, "open")
            visitor.write("\x00")
            await opened
            return visitor
          })
        )
      )
      const gone = Promise.all(
        visitors.map((visitor) => new Promise((resolve) => visitor.once("close", resolve).once("end", resolve)))
      )
      assert.strictEqual((yield* Effect.promise(() => world.admin("POST", `/admin/revoke/${T}`))).status, 200)
      yield* Effect.promise(() => gone)
      assert.strictEqual((yield* Effect.promise(() => agent.registration.ended)).code, "revoked")
      yield* Effect.promise(() =>
        eventually(() => agent.streams.every(({ destroyed }) => destroyed), "the agent hears of every stream")
      )
      assert.deepStrictEqual(
        agent.streams.map(({ resetBy }) => resetBy?.code),
        ["revoked", "revoked", "revoked"]
      )
      yield* Effect.promise(() =>
        eventually(async () => (await world.metrics())["ct_edge_active_relays"] === 0, "no relay is left")
      )
      assert.strictEqual((yield* Effect.promise(() => world.metrics()))["ct_edge_relays_cut_total"], 3)
    }).pipe(Effect.scoped)
  )
})
