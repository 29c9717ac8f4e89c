import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { portable } from "@catenet/crypto/portable"
import * as Export from "@catenet/crypto/receipt/Export"
import { AccessPolicy, WeeklySchedule } from "@catenet/domain/edges/AccessPolicy"
import { AgentId } from "@catenet/domain/enrollment/AgentStatus"
import { TunnelId } from "@catenet/domain/values/Ids"
import { PublicKey, Signature } from "@catenet/domain/values/Keys"
import { until, untilSuccess } from "@catenet/testing/Eventually"
import * as Accounts from "@catenet/testing/server/Accounts"
import { EdgeProgram } from "@catenet/testing/server/edges/EdgeProgram"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { connect } from "node:tls"
import { LiveEdges } from "../../src/edges/LiveEdges.ts"
import * as OutgoingHttp from "../../src/http/OutgoingHttp.ts"
import * as Statuses from "../../src/observability/Statuses.ts"
import { tokenBytes } from "../../src/runtime/TokenSecrets.ts"
import { Settings } from "../../src/settings/Settings.ts"
import * as FactsServer from "../tunnels/records/FactsServer.ts"

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

/** The same at each of the edges, all at once. */
const untilAt = <A, E, R>(
  edges: ReadonlyArray<EdgeProgram>,
  read: (edge: EdgeProgram) => Effect.Effect<A, E, R>,
  holds: (value: A) => boolean
) => Effect.forEach(edges, (edge) => until(read(edge), holds), { concurrency: "unbounded" })

const hostsOf = (edge: EdgeProgram) => Effect.promise(() => edge.hosts())
const park = (token: string) => (edge: EdgeProgram) => Effect.promise(() => edge.park(token, "two.zone.example"))

/** The edge was away for two minutes. */
const lapse = ({ id }: EdgeProgram) =>
  SqlClient.SqlClient.use((sql) => sql`update edge_addresses set expires_at = 1 where edge_id = ${id}`).pipe(
    Effect.provide(Accounts.database)
  )

/** What `/status` counts, without its five seconds of memory. An edge has two seconds to answer, which a busy machine may take. */
const gauge = Effect.flatMap(TestDatabase, ({ url }) => {
  const variables = { CT_CP_DATABASE_URL: Redacted.value(url), CT_CP_EDGE_ADMIN_TOKEN: TestServer.adminToken }
  const settings = Settings.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables))))
  return Effect.scoped(Effect.flatten(Statuses.makeLiveTunnelGauge)).pipe(
    Effect.provide(
      LiveEdges.layer.pipe(
        Layer.merge(OutgoingHttp.layerToEdges),
        Layer.provideMerge(settings),
        Layer.provide(Accounts.database),
        Layer.fresh
      )
    )
  )
})

/** An agent enrolls for a tunnel, with a key. */
const enroll = Effect.fnUntraced(function* (tunnel: TunnelId) {
  const { tunnels } = yield* FactsServer.account("owner")
  const { join_token: token } = yield* tunnels.install({ headers: {}, params: { id: tunnel } })
  const { enrollment } = yield* TestServer.client
  const seed = Redacted.make(new Uint8Array(32).fill(3))
  const pubkey = Schema.decodeSync(PublicKey)(Hex.encode(native.ed25519.publicKey(Redacted.value(seed))))
  const proof = Schema.decodeSync(Signature)(Hex.encode(Proof.prove(native, seed, tokenBytes(token))))
  yield* enrollment.redeem({ payload: { token, agent: AgentId.make("a"), pubkey, proof } })
})

const receiptsOf = Effect.fnUntraced(function* (tunnel: TunnelId) {
  const authorization = `Bearer ${yield* Accounts.bearerOf("owner")}`
  const answer = yield* TestServer.raw(`/me/tunnels/${tunnel}/receipts.jsonl`, { headers: { authorization } })
  return { status: answer.status, text: yield* Effect.promise(() => answer.text()) }
})

const closed = new AccessPolicy({
  expires_at: null,
  schedule: new WeeklySchedule({ tz_offset_minutes: 0, slots: [] })
})

const server = Accounts.server({ CT_CP_OUTBOX_TICK_SECS: "1", CT_CP_HOSTNAME_ZONE: "zone.example" })

layer(server, { excludeTestServices: true, timeout: "120 seconds" })("three edges", (it) => {
  it.effect("receive every order, even if one is killed and one is cut off", () =>
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

      const first = yield* FactsServer.tunnel("owner", "one", "one.zone.example")
      const second = yield* FactsServer.tunnel("owner", "two", "two.zone.example")
      const bothHosts = (hosts: ReadonlyArray<string>) =>
        hosts.includes("one.zone.example") && hosts.includes("two.zone.example")
      yield* untilAt([a, b, c], hostsOf, bothHosts)
      for (const edge of [a, b, c]) assert.strictEqual(yield* visit(edge.frontDoor, "two.zone.example"), "alert")

      const { tunnelControls, tunnelRecords, tunnels } = yield* FactsServer.account("owner")
      const id = TunnelId.make(second.id)
      yield* tunnelControls.setAccess({ params: { id }, payload: closed })
      const visitTwo = (edge: EdgeProgram) => visit(edge.frontDoor, "two.zone.example")
      yield* untilAt([a, b, c], visitTwo, (end) => end === "closed")

      for (const edge of [a, c]) assert.isTrue(yield* park(second.token)(edge))
      yield* until(untilSuccess(gauge), ({ silent, tunnels }) => tunnels === 2 && silent.length === 0)
      const signed = yield* receiptsOf(id)
      const exported = Export.split(signed.text).map((text) => Result.getOrThrow(Export.parse(text)))
      assert.deepStrictEqual(
        exported.map(({ header, receipts }) => [header.edgeId, receipts.length]),
        [
          ["edge-a", 1],
          ["edge-c", 1]
        ]
      )
      for (const each of exported) assert.isTrue(Result.isSuccess(Export.verifyUnderOwnKey(portable, each)))

      yield* Effect.promise(() => b.kill())
      yield* tunnels.remove({ params: { id: TunnelId.make(first.id) } })
      yield* tunnelControls.clearAccess({ params: { id } })
      yield* enroll(id)
      yield* untilAt([a, c], hostsOf, (hosts) => !hosts.includes("one.zone.example"))
      yield* untilAt([a, c], park(second.token), (isTaken) => !isTaken)
      const report = yield* tunnelRecords.uptime({ params: { id } })
      assert.deepStrictEqual([report.edge_silent, report.silent_edges], [false, ["edge-b"]])
      yield* until(untilSuccess(gauge), ({ silent }) => silent.join() === "edge-b")
      const refused = yield* receiptsOf(id)
      assert.strictEqual(refused.status, 502)
      assert.include(refused.text, "(edge-b)")

      yield* Effect.promise(() => b.start())
      assert.deepStrictEqual(yield* hostsOf(b), ["two.zone.example"])
      assert.isFalse(yield* park(second.token)(b), "the keys are restored before the edge listens")

      c.cutOff()
      yield* lapse(c)
      const third = yield* FactsServer.tunnel("owner", "three", "three.zone.example")
      yield* tunnels.remove({ params: { id } })
      yield* untilAt([a, b], hostsOf, (hosts) => hosts.join() === "three.zone.example")
      assert.deepStrictEqual(yield* hostsOf(c), ["two.zone.example"], "an edge that is cut off serves by what it knew")
      c.rejoin()
      yield* until(hostsOf(c), (hosts) => hosts.join() === "three.zone.example")
      yield* tunnels.remove({ params: { id: TunnelId.make(third.id) } })
      yield* untilAt([a, b, c], hostsOf, (hosts) => hosts.length === 0)
    }).pipe(Effect.scoped)
  )
})
