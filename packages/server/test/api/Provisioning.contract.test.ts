import * as Contract from "@catenet/testing/server/Contract"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const server = Layer.unwrap(
  Effect.map(RecordingEdge, ({ url }) => TestServer.layer({ CT_CP_EDGE_ADMIN_URL: url }))
).pipe(Layer.provideMerge(Layer.merge(RecordingEdge.layer, TestIssuer.layer)))

const as = "operator" as const
const token = "ab".repeat(32)
const revoked = "dead".repeat(16)

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("provisioning", (it) => {
  it.effect("holds its contract", () =>
    Effect.gen(function* () {
      const tunnel = { subject: "s", name: "n", hostname: "taken.example.test" }
      const header = { "idempotency-key": "mine" }
      const { url } = yield* TestDatabase
      yield* Effect.provide(
        SqlClient.SqlClient.use(
          (sql) =>
            sql`insert into revoked_tokens (routing_token, revoked_at) values (${revoked}, extract(epoch from now())::bigint)`
        ),
        PgClient.layer({ url, maxConnections: 1 })
      )
      yield* Contract.hold("provisioning", as, [
        { call: "provisionTunnel", as, headers: header, body: tunnel, status: 200 },
        { call: "provisionTunnel", as, headers: header, body: tunnel, status: 200, because: "it is the same request" },
        {
          call: "provisionTunnel",
          as,
          headers: header,
          body: { ...tunnel, name: "m" },
          status: 409,
          code: "IdempotencyKeyReused"
        },
        { call: "provisionTunnel", as, body: tunnel, status: 409, code: "HostnameTaken" },
        { call: "provisionTunnel", as, body: { ...tunnel, hostname: "com" }, status: 409, code: "HostnameReserved" },
        { call: "provisionTunnel", as, body: { ...tunnel, hostname: "a_b" }, status: 400, code: "MalformedRequest" },
        { call: "provisionTunnel", as, body: { ...tunnel, name: " " }, status: 400, code: "MalformedRequest" },
        { call: "provisionTunnel", as, body: { ...tunnel, subject: "" }, status: 400, code: "MalformedRequest" },
        { call: "list", as, status: 200 },
        { call: "list", as, query: "?limit=1001", status: 400, code: "MalformedRequest" },
        { call: "authorizeHost", as, at: { routing_token: token, hostname: "Own.Example.Test" }, status: 200 },
        {
          call: "authorizeHost",
          as,
          at: { routing_token: token, hostname: "taken.example.test" },
          status: 409,
          code: "HostnameTaken"
        },
        {
          call: "authorizeHost",
          as,
          at: { routing_token: token, hostname: "refused.example.test" },
          status: 502,
          code: "EdgeUnavailable"
        },
        {
          call: "authorizeHost",
          as,
          at: { routing_token: token, hostname: "co.uk" },
          status: 409,
          code: "HostnameReserved"
        },
        {
          call: "authorizeHost",
          as,
          at: { routing_token: revoked, hostname: "free.example.test" },
          status: 409,
          code: "RoutingTokenRevoked"
        },
        { call: "authorizeHost", as, at: { routing_token: "zz" }, status: 400, code: "MalformedRequest" },
        { call: "authorizeHost", as, at: { hostname: "%C3%A9.test" }, status: 400, code: "MalformedRequest" }
      ])
    })
  )
})
