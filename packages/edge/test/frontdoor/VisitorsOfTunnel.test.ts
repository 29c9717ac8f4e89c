import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readUntil, servingAgent, tlsTo } from "../harness/Agent.ts"
import { eventually, start, token } from "../harness/TestEdge.ts"

const fullTunnel = { token: token("1"), host: "full.zone.test" }
const other = { token: token("2"), host: "other.zone.test" }
const mostVisitors = 3

it.live(
  "a tunnel has CT_EDGE_MAX_VISITORS_PER_TUNNEL visitors at once, counted for each tunnel, until one leaves",
  () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_MAX_VISITORS_PER_TUNNEL: String(mostVisitors) })
      for (const { host, token } of [fullTunnel, other]) {
        yield* Effect.promise(() => world.authorize(token, host, "gelb"))
        yield* servingAgent(world, token, [host])
      }
      const visit = async (host: string) => {
        const socket = await tlsTo(world.frontDoor, world.wildcardRoot, host)
        socket.write("\x00served")
        await readUntil(socket, "served")
        return socket
      }
      const visitors = yield* Effect.promise(() =>
        Promise.all(Array.from({ length: mostVisitors }, () => visit(fullTunnel.host)))
      )
      yield* Effect.promise(async () => {
        const refused = await visit(fullTunnel.host).catch(() => undefined)
        assert.isUndefined(refused)
        assert.strictEqual((await world.metrics())["ct_edge_full_tunnel_total"], 1)
        ;(await visit(other.host)).destroy()
        visitors[0]?.destroy()
        await eventually(
          async () => (await world.metrics())["ct_edge_visitor_connections"] === mostVisitors - 1,
          "one is gone",
          5_000
        )
        ;(await visit(fullTunnel.host)).destroy()
        for (const visitor of visitors) visitor.destroy()
      })
    }).pipe(Effect.scoped)
)
