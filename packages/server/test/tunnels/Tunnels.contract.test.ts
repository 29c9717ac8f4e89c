import * as Accounts from "@catenet/testing/server/Accounts"
import * as Contract from "@catenet/testing/server/Contract"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { PublicDns } from "./hostnames/PublicDns.ts"

const server = Layer.unwrap(
  Effect.map(PublicDns, ({ address }) =>
    Accounts.server({
      CT_CP_TUNNELS_PER_ACCOUNT: "2",
      CT_CP_HOSTNAME_ZONE: "example.test",
      CT_CP_DNS_RESOLVERS: address
    })
  )
).pipe(Layer.provideMerge(PublicDns.layer))

const as = { bearer: "ada" }
const eve = { bearer: "eve" }

const make = (body: unknown, sub = "ada") =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw("/me/tunnels", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${yield* Accounts.bearerOf(sub)}` },
      body: JSON.stringify(body)
    })
    return yield* Effect.promise(
      () => response.json() as Promise<{ readonly id: string; readonly hostname_proof: any }>
    )
  })

/** A tunnel with a name of its owner's own, and what proves the name in DNS where it is published. */
const claim = (sub: string, hostname: string) =>
  Effect.map(make({ name: "own", hostname }, sub), ({ hostname_proof, id }) => ({
    at: { id },
    as: { bearer: sub },
    record: hostname_proof.records[0] as { readonly name: string; readonly value: string }
  }))

/** Puts the claim of a hostname where its owner let an offer pass, and asks for entry in a visitor's name. */
const prepare = (id: string) =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`update hosts set claim = 'lapsed', queued_at = null, retry_at = 1, lapses = 1`
      yield* sql`insert into tunnel_access_requests values (${id}, 'v@example.test', 'please', extract(epoch from now())::bigint)`
    }).pipe(Effect.provide(PgClient.layer({ url })))
  })

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("tunnels", (it) => {
  it.effect("hold their contract", () =>
    Effect.gen(function* () {
      const { id } = yield* make({ name: "first", hostname: "first.example.test" })
      yield* prepare(id)
      const at = { id }
      const proved = yield* claim("bea", "proved.example.org")
      const rival = yield* claim("cid", "proved.example.org")
      const below = yield* claim("dan", "below.proved.example.org")
      const missing = yield* claim("eli", "missing.example.org")
      const failing = yield* claim("fay", "on.failing.test")
      yield* PublicDns.use(({ publish }) => publish("TXT", proved.record.name, proved.record.value, rival.record.value))
      const verify = ({ as, at }: Pick<typeof proved, "as" | "at">, status: number, code?: string): Contract.Row => ({
        call: "verifyHostname",
        as,
        at,
        status,
        ...(code === undefined ? {} : { code })
      })
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
        { call: "create", as: eve, body: { name: "mine", hostname: "com" }, status: 409, code: "HostnameReserved" },
        verify(proved, 200),
        verify(proved, 200),
        verify(rival, 409, "HostnameTaken"),
        verify(below, 409, "HostnameReserved"),
        verify(missing, 409, "HostnameNotProved"),
        verify(failing, 502, "DnsUnanswered"),
        verify({ as, at }, 409, "NoHostnameToVerify"),
        foreign("verifyHostname"),
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
        {
          call: "rotateToken",
          as,
          at,
          headers: { "idempotency-key": "x".repeat(300) },
          status: 400,
          code: "MalformedRequest"
        },
        { call: "rotateToken", as, at, status: 200 },
        foreign("rotateToken"),
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
        { call: "allowVisitor", as, at, body: { email: "anonymous" }, status: 400, code: "MalformedRequest" },
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
