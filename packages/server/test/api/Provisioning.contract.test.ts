import { hold, row } from "@catenet/testing/server/Contract"
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
      yield* hold("provisioning", as, [
        row("provisionTunnel", 200, { as, headers: header, body: tunnel }),
        row("provisionTunnel", 200, { as, headers: header, body: tunnel, because: "it is the same request" }),
        row("provisionTunnel", "409 IdempotencyKeyReused", { as, headers: header, body: { ...tunnel, name: "m" } }),
        row("provisionTunnel", "409 HostnameTaken", { as, body: tunnel }),
        row("provisionTunnel", "409 HostnameReserved", { as, body: { ...tunnel, hostname: "com" } }),
        row("provisionTunnel", "400 MalformedRequest", { as, body: { ...tunnel, hostname: "a_b" } }),
        row("provisionTunnel", "400 MalformedRequest", { as, body: { ...tunnel, name: " " } }),
        row("provisionTunnel", "400 MalformedRequest", { as, body: { ...tunnel, subject: "" } }),
        row("list", 200, { as }),
        row("list", "400 MalformedRequest", { as, query: "?limit=1001" }),
        row("authorizeHost", 200, { as, at: { routing_token: token, hostname: "Own.Example.Test" } }),
        row("authorizeHost", "409 HostnameTaken", { as, at: { routing_token: token, hostname: "taken.example.test" } }),
        row("authorizeHost", "502 EdgeUnavailable", {
          as,
          at: { routing_token: token, hostname: "refused.example.test" }
        }),
        row("authorizeHost", "409 HostnameReserved", { as, at: { routing_token: token, hostname: "co.uk" } }),
        row("authorizeHost", "409 RoutingTokenRevoked", {
          as,
          at: { routing_token: revoked, hostname: "free.example.test" }
        }),
        row("authorizeHost", "400 MalformedRequest", { as, at: { routing_token: "zz" } }),
        row("authorizeHost", "400 MalformedRequest", { as, at: { hostname: "%C3%A9.test" } })
      ])
    })
  )
})
