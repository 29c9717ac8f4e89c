import { TunnelId } from "@catenet/domain/Ids"
import { AccessPolicy } from "@catenet/domain/AccessPolicy"
import { UnixSeconds } from "@catenet/domain/Numbers"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { connect } from "node:tls"
import * as Accounts from "../harness/Accounts.ts"
import { TestDatabase } from "../harness/TestDatabase.ts"
import * as TestServer from "../harness/TestServer.ts"
import * as World from "../records/World.ts"
import { EdgeProgram } from "./EdgeProgram.ts"

/** How a visitor of a tunnel without an agent ends: by a TLS alert, or without a word where the access window is closed. */
const visit = (port: number, servername: string) =>
  Effect.promise(
    () =>
      new Promise<"alert" | "closed">((resolve) => {
        const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false })
        socket.on("error", ({ message }) => resolve(message.includes("alert") ? "alert" : "closed"))
        socket.on("close", () => resolve("closed"))
      })
  )

const until = <A, E, R>(read: Effect.Effect<A, E, R>, holds: (value: A) => boolean) =>
  read.pipe(
    Effect.tap((value) => (holds(value) ? Effect.void : Effect.sleep("100 millis"))),
    Effect.repeat({ until: holds }),
    Effect.timeout("40 seconds")
  )

const hostsOf = (edge: EdgeProgram) => Effect.promise(() => edge.hosts())

/** The edge was away for two minutes. */
const lapse = ({ id }: EdgeProgram) =>
  Effect.flatMap(TestDatabase, ({ url }) =>
    SqlClient.SqlClient.use((sql) => sql`update edge_addresses set expires_at = 1 where edge_id = ${id}`).pipe(
      Effect.provide(PgClient.layer({ url, maxConnections: 1 }))
    )
  )

const world = Accounts.world({ CT_CP_OUTBOX_TICK_SECS: "1", CT_CP_HOSTNAME_ZONE: "zone.example" })

layer(world, { excludeTestServices: true, timeout: "120 seconds" })("three edges", (it) => {
  it.effect("take every order, one killed in the middle and one cut off", () =>
    Effect.gen(function* () {
      const url = yield* TestServer.baseUrl
      const [a, b, c] = yield* Effect.forEach(["edge-a", "edge-b", "edge-c"] as const, (id) =>
        Effect.acquireRelease(
          Effect.promise(() => EdgeProgram.make(id, url, TestServer.adminToken)),
          (edge) => Effect.promise(() => edge.dispose())
        )
      )
      assert(a !== undefined && b !== undefined && c !== undefined)
      yield* Effect.forEach([a, b, c], (edge) => Effect.promise(() => edge.start()), { concurrency: 3 })

      const first = yield* World.tunnel("owner", "one", "one.zone.example")
      const second = yield* World.tunnel("owner", "two", "two.zone.example")
      for (const edge of [a, b, c]) {
        yield* until(hostsOf(edge), (hosts) => hosts.includes("one.zone.example") && hosts.includes("two.zone.example"))
        assert.strictEqual(yield* visit(edge.frontDoor, "two.zone.example"), "alert")
      }

      const { tunnelControls, tunnelRecords, tunnels } = yield* World.account("owner")
      const id = TunnelId.make(second.id)
      const soon = Math.floor(Date.now() / 1000) + 2
      yield* tunnelControls.setAccess({
        params: { id },
        payload: new AccessPolicy({ expires_at: UnixSeconds.make(soon), schedule: null })
      })
      for (const edge of [a, b, c]) {
        yield* until(visit(edge.frontDoor, "two.zone.example"), (end) => end === "closed")
      }

      yield* Effect.promise(() => b.kill())
      yield* tunnels.remove({ params: { id: TunnelId.make(first.id) } })
      yield* tunnelControls.clearAccess({ params: { id } })
      for (const edge of [a, c]) {
        yield* until(hostsOf(edge), (hosts) => !hosts.includes("one.zone.example"))
        yield* until(visit(edge.frontDoor, "two.zone.example"), (end) => end === "alert")
      }
      const report = yield* tunnelRecords.uptime({ params: { id } })
      assert.deepStrictEqual([report.edge_silent, report.silent_edges], [false, ["edge-b"]])

      yield* Effect.promise(() => b.start())
      assert.deepStrictEqual(yield* hostsOf(b), ["two.zone.example"])
      assert.strictEqual(yield* visit(b.frontDoor, "two.zone.example"), "alert")

      c.cutOff()
      yield* lapse(c)
      const third = yield* World.tunnel("owner", "three", "three.zone.example")
      yield* tunnels.remove({ params: { id } })
      for (const edge of [a, b]) {
        yield* until(hostsOf(edge), (hosts) => hosts.join() === "three.zone.example")
      }
      assert.deepStrictEqual(yield* hostsOf(c), ["two.zone.example"], "an edge that is cut off serves by what it knew")
      c.rejoin()
      yield* until(hostsOf(c), (hosts) => hosts.join() === "three.zone.example")
      yield* tunnels.remove({ params: { id: TunnelId.make(third.id) } })
      for (const edge of [a, b, c]) yield* until(hostsOf(edge), (hosts) => hosts.length === 0)
    }).pipe(Effect.scoped)
  )
})
