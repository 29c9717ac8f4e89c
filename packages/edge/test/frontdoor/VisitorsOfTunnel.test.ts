import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readUntil, servingAgent, tlsTo } from "../world/Agent.ts"
import { eventually, start, token } from "../world/World.ts"

const FULL = { token: token("1"), host: "full.zone.test" }
const OTHER = { token: token("2"), host: "other.zone.test" }
const MOST = 3

it.live("a tunnel has so many visitors at once and no more; other tunnels have theirs, and a place is free again", () =>
  Effect.gen(function* () {
    const world = yield* start({ CT_EDGE_MAX_VISITORS_PER_TUNNEL: String(MOST) })
    for (const { host, token } of [FULL, OTHER]) {
      yield* Effect.promise(() => world.authorise(token, host, "gelb"))
      yield* servingAgent(world, token, [host])
    }
    const visit = async (host: string) => {
      const socket = await tlsTo(world.frontDoor, world.wildcardRoot, host)
      socket.write("\x00served")
      await readUntil(socket, "served")
      return socket
    }
    const visitors = yield* Effect.promise(() => Promise.all(Array.from({ length: MOST }, () => visit(FULL.host))))
    yield* Effect.promise(async () => {
      const refused = await visit(FULL.host).catch(() => undefined)
      assert.isUndefined(refused)
      assert.strictEqual((await world.metrics())["ct_edge_full_tunnel_total"], 1)
      ;(await visit(OTHER.host)).destroy()
      visitors[0]?.destroy()
      await eventually(
        async () => (await world.metrics())["ct_edge_visitor_connections"] === MOST - 1,
        "one is gone",
        5_000
      )
      ;(await visit(FULL.host)).destroy()
      for (const visitor of visitors) visitor.destroy()
    })
  }).pipe(Effect.scoped)
)
