import { PgClient } from "@effect/sql-pg"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Accounts from "../harness/Accounts.ts"
import * as Contract from "../harness/Contract.ts"
import { TestDatabase } from "../harness/TestDatabase.ts"
import { TestIssuer } from "../harness/TestIssuer.ts"
import * as TestServer from "../harness/TestServer.ts"

const world = Layer.unwrap(
  Effect.map(TestIssuer, ({ issuer }) => TestServer.layer({ CT_OIDC_ISSUER: issuer, CT_CP_TUNNELS_PER_ACCOUNT: "2" }))
).pipe(Layer.provideMerge(TestIssuer.layer))

const as = { bearer: "ada" }
const eve = { bearer: "eve" }

const make = (body: unknown) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw("/me/tunnels", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${yield* Accounts.bearerOf("ada")}` },
      body: JSON.stringify(body)
    })
    return yield* Effect.promise(() => response.json() as Promise<{ readonly id: string }>)
  })

/** Puts the claim of a hostname where its owner let an offer pass, and asks for entry in a visitor's name. */
const prepare = (id: string) =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`update hosts set claim = 'lapsed', queued_at = null, retry_at = 1, lapses = 1`
      yield* sql`insert into tunnel_access_requests values (${id}, 'v@example.test', 'please', 1)`
    }).pipe(Effect.provide(PgClient.layer({ url })))
  })

layer(world, { excludeTestServices: true, timeout: "60 seconds" })("tunnels", (it) => {
  it.effect("hold their contract", () =>
    Effect.gen(function* () {
      const { id } = yield* make({ name: "first", hostname: "first.example.test" })
      yield* prepare(id)
      const at = { id }
      const visitor = { id, email: "v@example.test" }
      const header = { "idempotency-key": "mine" }
      const foreign = (call: string, more: object = {}) =>
        ({ call, as: eve, at: { ...visitor, grantee: "bob" }, ...more, status: 404, code: "TunnelNotFound" }) as const
      yield* Contract.hold("tunnels", as, [
        { call: "create", as, headers: header, body: { name: "second" }, status: 200 },
        { call: "create", as, headers: header, body: { name: "third" }, status: 409, code: "IdempotencyKeyReused" },
        { call: "create", as, body: { name: "third" }, status: 403, code: "TunnelLimitReached" },
        {
          call: "create",
          as: eve,
          body: { name: "mine", hostname: "first.example.test" },
          status: 409,
          code: "HostnameTaken"
        },
        { call: "list", as, query: "?limit=1", status: 200 },
        { call: "get", as, at, status: 200 },
        foreign("get"),
        { call: "change", as, at, body: { name: "renamed" }, status: 200 },
        foreign("change", { body: {} }),
        { call: "install", as, at, status: 200 },
        {
          call: "install",
          as,
          at,
          headers: { "idempotency-key": "k".repeat(256) },
          status: 400,
          code: "MalformedRequest"
        },
        foreign("install"),
        { call: "reclaim", as, at, status: 200 },
        { call: "reclaim", as, at, status: 409, code: "ClaimNotLapsed" },
        foreign("reclaim"),
        { call: "grant", as, at, body: { grantee: "bob" }, status: 200 },
        foreign("grant", { body: { grantee: "bob" } }),
        { call: "listGrantees", as, at, status: 200, answer: { grantees: ["bob"] } },
        foreign("listGrantees"),
        { call: "ungrant", as, at: { id, grantee: "bob" }, status: 200 },
        { call: "ungrant", as, at: { id, grantee: "bob" }, status: 404, code: "GrantNotFound" },
        { call: "ungrant", as, at: { id, grantee: "%0A" }, status: 400, code: "MalformedRequest" },
        foreign("ungrant"),
        { call: "listAccessRequests", as, at, status: 200 },
        foreign("listAccessRequests"),
        { call: "dismissAccessRequest", as, at: visitor, status: 200 },
        { call: "dismissAccessRequest", as, at: visitor, status: 404, code: "GrantNotFound" },
        { call: "dismissAccessRequest", as, at: { id, email: "zz" }, status: 400, code: "MalformedRequest" },
        foreign("dismissAccessRequest"),
        { call: "allowVisitor", as, at, body: { email: "V@Example.Test" }, status: 200 },
        { call: "allowVisitor", as, at, body: { email: "nobody" }, status: 400, code: "MalformedRequest" },
        foreign("allowVisitor", { body: { email: "v@example.test" } }),
        { call: "listVisitors", as, at, status: 200, answer: { emails: ["v@example.test"] } },
        foreign("listVisitors"),
        { call: "disallowVisitor", as, at: visitor, status: 200 },
        { call: "disallowVisitor", as, at: { id, email: "zz" }, status: 400, code: "MalformedRequest" },
        foreign("disallowVisitor"),
        foreign("remove"),
        { call: "remove", as, at, status: 200 },
        { call: "remove", as, at, status: 404, code: "TunnelNotFound" }
      ])
    })
  )
})
