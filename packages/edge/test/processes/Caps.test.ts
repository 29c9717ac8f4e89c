import { muxAgent, readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { requestRendezvous } from "@catenet/wire/transport/MeshRendezvous"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Result, Scope } from "effect"
import { connect, type Socket } from "node:net"

const T = token("d")
const tunnelHost = "app.zone.test"
/** So many that both processes get more than their share of whatever is counted. */
const many = 30

const life = Effect.runSync(Scope.make())
let world: TestEdge
beforeAll(async () => {
  world = await Effect.runPromise(
    start({
      CT_EDGE_PROCESSES: "2",
      CT_EDGE_MAX_TCP_AGENT_CONNECTIONS: "3",
      CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS: "5",
      CT_EDGE_MAX_CONNECTIONS_PER_IP: "15",
      CT_EDGE_MAX_CONNECTIONS: "19",
      CT_EDGE_RENDEZVOUS_MAX_PER_MIN: "3",
      CT_EDGE_POW_DIFFICULTY: "0"
    }).pipe(Scope.provide(life))
  )
  await world.authorize(T, tunnelHost, "gelb")
})
afterAll(() => Effect.runPromise(Scope.close(life, Exit.void)))

const reads = (metric: string, value: number) =>
  Effect.promise(() => {
    let read: number | undefined
    return eventually(
      async () => (read = (await world.metrics())[`ct_edge_${metric}`]) === value,
      () => `${metric} is ${read} and not ${value}`
    )
  })

const alone = Effect.suspend(() => reads("connections", 0))

/** How many of so many attempts succeed; what they hold is held. */
const succeed = (attempt: () => Promise<boolean>, attempts = many) =>
  Effect.promise(async () => {
    let succeeded = 0
    for (let at = 0; at < attempts; at++) if (await attempt()) succeeded += 1
    return succeeded
  })

describe("two processes, each with half of each cap", () => {
  it.live("accept exactly as many agents as the cap", () =>
    Effect.gen(function* () {
      const places: Array<number | undefined> = []
      for (let at = 0; at < many; at++) {
        const { mux, register } = yield* muxAgent(world)
        const greeted = yield* Effect.promise(() => mux.ready)
        // What has registered for nothing makes room for others, so only a registration holds a place.
        if (Result.isFailure(greeted)) continue
        const registered = yield* Effect.promise(() => register(T, [tunnelHost]))
        if (Result.isSuccess(registered)) places.push(greeted.success.edgeProcess?.process)
      }
      assert.deepStrictEqual(places.sort(), [0, 0, 1, 1])
      yield* reads("agent_connections", 4)
    }).pipe(Effect.scoped, Effect.andThen(alone))
  )

  it.live("accept exactly as many visitors as the cap", () =>
    Effect.gen(function* () {
      yield* servingAgent(world, T, [tunnelHost])
      const held: Array<Socket> = []
      const visit = () =>
        tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
          .then((visitor) => {
            // A place counts from the first request; in a protocol of its own, from the first byte.
            visitor.write("\x00served")
            return readUntil(visitor, "served").then(
              () => held.push(visitor) > 0,
              () => {
                visitor.destroy()
                return false
              }
            )
          })
          .catch(() => false)
      assert.strictEqual(yield* succeed(visit), 6)
      yield* reads("visitor_connections", 6)
      for (const visitor of held) visitor.destroy()
    }).pipe(Effect.scoped, Effect.andThen(alone))
  )

  it.live("admit exactly as many mesh clients in a minute as the cap", () =>
    Effect.gen(function* () {
      const { streams } = yield* servingAgent(world, T, [])
      const come = async () => {
        const socket = await tlsTo(world.mesh, world.meshRoot, "localhost")
        const asked = await requestRendezvous(socket, Buffer.from(T, "hex"), async () => 0n)
        const echoed = readUntil(socket, "noise")
        if (Result.isSuccess(asked)) socket.write("noise")
        return echoed
          .then(
            () => true,
            () => false
          )
          .finally(() => socket.destroy())
      }
      assert.strictEqual(yield* succeed(come), 4)
      assert.lengthOf(streams, 4)
    }).pipe(Effect.scoped, Effect.andThen(alone))
  )

  it.live("accept no connection beyond the caps for one address and for all", () =>
    Effect.gen(function* () {
      const from = (localAddress: string) =>
        Array.from({ length: 2 * many }, () => {
          const socket = connect({ host: "127.0.0.1", port: world.frontDoor, localAddress })
          return socket.on("error", () => undefined).resume()
        })
      const shed = 'listener_conn_cap_sheds_total{listener="front-door",reason='
      const held = from("127.0.0.1")
      yield* reads(`${shed}"address"}`, 2 * many - 16)
      yield* reads("connections", 16)
      held.push(...from("127.0.0.2"))
      yield* reads(`${shed}"connections"}`, 2 * many - 4)
      yield* reads("connections", 20)
      yield* reads(`${shed}"address"}`, 2 * many - 16)
      for (const socket of held) socket.destroy()
    }).pipe(Effect.andThen(alone))
  )
})
