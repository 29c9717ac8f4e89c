import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { servingAgent, slotAgent, tlsTo } from "../harness/Agent.ts"
import { start, temporaryFolder, token } from "../harness/TestEdge.ts"

const T = token("7")
const tunnelHost = "app.zone.test"

describe("the audit log", () => {
  it.live("records connections by address and hashed tunnel, and deletes them after its retention", () =>
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "audit.sqlite")
      const run = Effect.fn("run")(function* (visit: boolean) {
        const life = yield* Scope.make()
        const world = yield* start({ CT_EDGE_AUDIT_LOG_PATH: path }).pipe(Scope.provide(life))
        if (visit) {
          yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
          yield* servingAgent(world, T, [tunnelHost])
          yield* slotAgent(world, T, "L", tunnelHost)
          const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
          visitor.destroy()
        }
        yield* Scope.close(life, Exit.void)
      })
      const rows = () => {
        const db = new DatabaseSync(path)
        const found = db.prepare("select transport, source_ip, tunnel from connections order by rowid").all()
        db.exec("update connections set ts = 0")
        db.close()
        return found
      }
      yield* run(true)
      const seen = rows()
      assert.deepStrictEqual(
        seen.map(({ source_ip, transport }) => [transport, source_ip]),
        [
          ["mux_agent", "127.0.0.1"],
          ["tcp_fallback", "127.0.0.1"],
          ["front_door_tls", "127.0.0.1"]
        ]
      )
      assert.notInclude(JSON.stringify(seen), T)
      yield* run(false)
      assert.deepStrictEqual(rows(), [])
    }).pipe(Effect.scoped)
  )
})
