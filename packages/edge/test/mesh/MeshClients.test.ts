import { native } from "@catenet/crypto/native"
import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
import { muxAgent, readUntil, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { requestRendezvous } from "@catenet/wire/transport/MeshRendezvous"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"

const T = token("8")

const client = (world: TestEdge, of: string, honest = true, port = world.mesh) =>
  Effect.promise(async () => {
    const socket = await tlsTo(port, world.meshRoot, "localhost", port === world.mesh ? [] : ["ct-edge"])
    const routingToken = Buffer.from(of, "hex")
    const asked = await requestRendezvous(socket, routingToken, async (challenge) => {
      for (let solution = 0n; ; solution++) {
        if (ProofOfWork.solves(native, challenge, { solution, routingToken }) === honest) return solution
      }
    })
    if (Result.isFailure(asked)) throw new Error(asked.failure.reason)
    return socket
  })

const dropped = (socket: { once: (event: "close" | "end", then: () => void) => unknown }) =>
  Effect.promise(
    () => new Promise<void>((resolve) => void [socket.once("end", resolve), socket.once("close", resolve)])
  )

describe("mesh clients", () => {
  it.live("reach an agent without a host on both ports, after a proof of work", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const agent = yield* muxAgent(world)
      yield* Effect.promise(() => agent.register(T, []))
      for (const port of [world.mesh, world.frontDoor]) {
        const socket = yield* client(world, T, true, port)
        const echoed = readUntil(socket, "noise")
        socket.write("noise")
        assert.strictEqual(yield* Effect.promise(() => echoed), "noise")
        socket.destroy()
      }
      assert.deepStrictEqual(
        agent.streams.map(({ header }) => header.kind),
        ["mesh", "mesh"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("are dropped without an answer for a bad proof, an unknown or revoked token, and above the rate limit", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_RENDEZVOUS_MAX_PER_MIN: "2", CT_EDGE_POW_DIFFICULTY: "8" })
      const agent = yield* muxAgent(world)
      yield* Effect.promise(() => agent.register(T, []))
      yield* dropped(yield* client(world, T, false))
      yield* dropped(yield* client(world, token("9")))
      yield* client(world, T)
      yield* client(world, T)
      yield* Effect.promise(() => eventually(() => agent.streams.length === 2, "two are let in"))
      yield* dropped(yield* client(world, T))
      yield* Effect.promise(() => world.admin("POST", `/admin/revoke/${T}`))
      yield* dropped(yield* client(world, T))
      assert.strictEqual((yield* Effect.promise(() => world.metrics()))["ct_edge_rendezvous_refused_total"], 4)
    }).pipe(Effect.scoped)
  )
})
