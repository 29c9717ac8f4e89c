import { until } from "@catenet/testing/Eventually"
import { database } from "@catenet/testing/server/Accounts"
import * as Program from "@catenet/testing/server/faults/Program"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import { adminToken } from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { FactsEdge } from "../records/FactsEdge.ts"
import { account, variables } from "../records/FactsServer.ts"
import { alerted, pretend, ticking } from "./AlertingServer.ts"
import { isSigned, Receiver } from "./Receiver.ts"

const server = Layer.mergeAll(TestDatabase.layer, TestIssuer.layer, FactsEdge.layer, Receiver.layer)

/** The program as a process of its own, which is the only one that looks and delivers. */
const replica = Effect.gen(function* () {
  const { url } = yield* TestDatabase
  const { issuer } = yield* TestIssuer
  const edge = yield* FactsEdge
  const port = yield* Program.freePort
  return yield* Program.start({
    name: "replica",
    port,
    main: Program.controlPlane,
    health: "/readyz",
    env: {
      ...variables,
      ...ticking,
      CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
      CT_CP_DATABASE_URL: Redacted.value(url),
      CT_CP_SEAL_KEY: "5e".repeat(32),
      CT_CP_EDGE_ADMIN_URL: edge.url,
      CT_CP_EDGE_ADMIN_TOKEN: adminToken,
      CT_OIDC_ISSUER: issuer
    }
  })
})

/** As if the minute were over in which a delivery is another's business. */
const letGo = SqlClient.SqlClient.use((sql) => sql`update alert_deliveries set leased_until = 0`).pipe(
  Effect.provide(database)
)

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a delivery", (it) => {
  it.effect("whose replica is killed is taken over, made again after two and eight seconds, and recorded once", () =>
    Effect.gen(function* () {
      const program = yield* replica
      const here = Program.at(program)
      const edge = yield* FactsEdge
      const receiver = yield* Receiver
      const { id, path, secret, token } = yield* here(alerted("ada", "cam", "/cam"))
      yield* receiver.answer(path, "silent", 500, 302)
      yield* edge.tunnel(token, { connected: false })
      yield* pretend(id, 90)
      yield* receiver.arrived(path, 1)
      yield* program.strike
      yield* letGo
      const attempts = yield* receiver.arrived(path, 4)
      const [lost, one, two, three] = attempts
      assert(lost !== undefined && one !== undefined && two !== undefined && three !== undefined)
      const [first, second] = [two.at - one.at, three.at - two.at]
      assert.isTrue(first > 1100 && first < 6000, `${first} ms`)
      assert.isTrue(second > 6500 && second < 16_000, `${second} ms`)
      for (const attempt of attempts) {
        assert.isTrue(isSigned(attempt, secret))
        assert.deepStrictEqual([attempt.method, attempt.body], ["POST", lost.body])
        assert.strictEqual(attempt.headers["webhook-id"], lost.headers["webhook-id"], "by which a receiver knows it")
      }
      for (const { headers } of [two, three]) assert.deepStrictEqual(headers, one.headers)
      assert.strictEqual(receiver.arrivals("/elsewhere").length, 0, "no redirect is followed")
      const { tunnelControls } = yield* here(account("ada"))
      const log = yield* until(
        here(tunnelControls.listDeliveries({ params: { id }, query: {} })),
        (lines) => lines.length > 0
      )
      assert.deepStrictEqual(
        log.map(({ event, status }) => [event, status]),
        [["tunnel.down", "ok"]],
        "four attempts are one delivery"
      )
    }).pipe(Effect.scoped)
  )
})
