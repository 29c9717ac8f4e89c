/** What one tunnel, account or address takes of the places of agents leaves room for others. */
import { muxAgent, servingAgent, slotAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"

const account = (digit: string) => token(digit)
const places = 8

const authorized = Effect.fnUntraced(function* () {
  const world = yield* start({ CT_EDGE_MAX_TCP_AGENT_CONNECTIONS: `${places}` })
  const authorize = (digit: string, owner: string) =>
    Effect.promise(async () => {
      const host = `app-${digit}.zone.test`
      const path = `/admin/authorize-host/${token(digit)}/${host}?channel_tier=gelb`
      assert.strictEqual(
        (await world.admin("POST", path, { headers: { "x-ct-owner-account": account(owner) } })).status,
        200
      )
      return { token: token(digit), host }
    })
  return { world, authorize }
})

describe("the places of agents at an edge", () => {
  it.live("one account has half of them with all its tunnels; an agent of another one is served", () =>
    Effect.gen(function* () {
      const { authorize, world } = yield* authorized()
      const greedy = yield* Effect.forEach(["1", "2", "3"], (digit) => authorize(digit, "a"))
      const held: Array<Effect.Success<ReturnType<typeof muxAgent>>> = []
      const take = Effect.fnUntraced(function* (rounds: number) {
        for (let count = 0; count < rounds; count++)
          for (const { host, token } of greedy) {
            const agent = yield* muxAgent(world)
            held.push(agent)
            yield* Effect.promise(() => agent.register(token, [host]))
          }
      })
      yield* take(places)
      const other = yield* authorize("4", "b")
      const agents = [
        yield* servingAgent(world, other.token, [other.host]),
        yield* servingAgent(world, other.token, [other.host])
      ]
      yield* take(places)
      assert.isTrue(agents.every(({ socket }) => !socket.readableEnded))
      const open = () => held.filter(({ socket }) => !socket.readableEnded && !socket.destroyed).length
      yield* Effect.promise(() =>
        eventually(
          () => open() === places / 2,
          () => `${open()} are open`
        )
      )
    }).pipe(Effect.scoped)
  )

  it.live("multiplexed connections that say nothing leave room for an agent of another account", () =>
    Effect.gen(function* () {
      const { authorize, world } = yield* authorized()
      const { host, token } = yield* authorize("1", "a")
      for (let count = 0; count < 3 * places; count++) yield* muxAgent(world)
      yield* servingAgent(world, token, [host])
      for (let count = 0; count < 3 * places; count++) yield* muxAgent(world)
      const agent = yield* servingAgent(world, token, [host])
      assert.isFalse(agent.socket.readableEnded)
    }).pipe(Effect.scoped)
  )

  it.live("connections of the byte protocol that say nothing leave room for a slot, and one that is parked stays", () =>
    Effect.gen(function* () {
      const { authorize, world } = yield* authorized()
      const { host, token } = yield* authorize("1", "a")
      const silent = () => Effect.promise(() => tlsTo(world.mesh, world.meshRoot, "localhost"))
      for (let count = 0; count < 3 * places; count++) (yield* silent()).resume()
      const { parked, socket } = yield* slotAgent(world, token, "B", host)
      assert.isTrue(Result.isSuccess(parked))
      for (let count = 0; count < 3 * places; count++) (yield* silent()).resume()
      assert.isFalse(socket.destroyed)
    }).pipe(Effect.scoped)
  )

  it.live("mesh clients that do not answer their challenge take none of them", () =>
    Effect.gen(function* () {
      const { authorize, world } = yield* authorized()
      const { host, token } = yield* authorize("1", "a")
      for (let count = 0; count < 3 * places; count++) {
        const client = yield* Effect.promise(() => tlsTo(world.mesh, world.meshRoot, "localhost"))
        client.resume().write("C")
      }
      const { parked } = yield* slotAgent(world, token, "B", host)
      assert.isTrue(Result.isSuccess(parked))
    }).pipe(Effect.scoped)
  )
})
