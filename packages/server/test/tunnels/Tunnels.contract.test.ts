import * as Accounts from "@catenet/testing/server/Accounts"
import { hold, row, type Row } from "@catenet/testing/server/Contract"
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
      CT_CP_PORTS_PER_ACCOUNT: "1",
      CT_CP_HOSTNAME_ZONE: "example.test",
      CT_CP_DNS_RESOLVERS: address
    })
  )
).pipe(Layer.provideMerge(PublicDns.layer))

const as = { bearer: "ada" }
const eve = { bearer: "eve" }
const ian = { bearer: "ian" }
const gil = { bearer: "gil" }

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
      yield* sql`insert into edge_nodes (id, peer_addr, seen_at, ports)
        values ('offering', 'a:1', extract(epoch from now())::bigint, '{"tcp": [[20000, 20009]], "udp": []}')`
      yield* sql`update hosts set claim = 'lapsed', queued_at = null, retry_at = 1, lapses = 1`
      yield* sql`insert into tunnel_access_requests values (${id}, 'v@example.test', 'please', extract(epoch from now())::bigint)`
    }).pipe(Effect.provide(PgClient.layer({ url })))
  })

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("tunnels", (it) => {
  it.effect("hold their contract", () =>
    Effect.gen(function* () {
      const { id } = yield* make({ name: "first", hostname: "first.example.test" })
      yield* prepare(id)
      const ported = yield* make({ name: "ssh", kind: "tcp" }, "ian")
      const at = { id }
      const proved = yield* claim("bea", "proved.example.org")
      const rival = yield* claim("cid", "proved.example.org")
      const below = yield* claim("dan", "below.proved.example.org")
      const missing = yield* claim("eli", "missing.example.org")
      const failing = yield* claim("fay", "on.failing.test")
      yield* PublicDns.use(({ publish }) => publish("TXT", proved.record.name, proved.record.value, rival.record.value))
      const verify = ({ as, at }: Pick<typeof proved, "as" | "at">, status: number, code?: string): Row => ({
        call: "verifyHostname",
        as,
        at,
        status,
        ...(code === undefined ? {} : { code })
      })
      const visitor = { id, email: "v@example.test" }
      const header = { "idempotency-key": "mine" }
      const foreign = (call: string, more: object = {}) =>
        row(call, "404 TunnelNotFound", { as: eve, at: { ...visitor, grantee: "bob" }, ...more })
      yield* hold("tunnels", as, [
        row("create", 200, { as, headers: header, body: { name: "second" } }),
        row("create", "409 IdempotencyKeyReused", { as, headers: header, body: { name: "third" } }),
        row("create", "403 TunnelLimitReached", { as, body: { name: "third" } }),
        row("create", 200, { as: gil, body: { name: "ssh", kind: "tcp", port: 20_001 } }),
        row("create", "403 PortLimitReached", { as: gil, body: { name: "more", kind: "tcp" } }),
        row("create", "409 PortTaken", { as: eve, body: { name: "mine", kind: "tcp", port: 20_001 } }),
        row("create", "400 PortRefused", { as: eve, body: { name: "mine", port: 20_002 } }),
        row("create", "409 NoPortLeft", { as: eve, body: { name: "mine", kind: "udp" } }),
        row("create", "409 HostnameTaken", { as: eve, body: { name: "mine", hostname: "first.example.test" } }),
        row("create", "409 HostnameReserved", { as: eve, body: { name: "mine", hostname: "com" } }),
        verify(proved, 200),
        verify(proved, 200),
        verify(rival, 409, "HostnameTaken"),
        verify(below, 409, "HostnameReserved"),
        verify(missing, 409, "HostnameNotProved"),
        verify(failing, 502, "DnsUnanswered"),
        verify({ as, at }, 409, "NoHostnameToVerify"),
        foreign("verifyHostname"),
        row("setHostname", 200, { as, at, body: { hostname: "wanted.example.org" } }),
        row("setHostname", 200, { as, at, body: { hostname: null } }),
        row("setHostname", "409 HostnameTaken", { ...missing, body: { hostname: "first.example.test" } }),
        row("setHostname", "409 HostnameReserved", { as, at, body: { hostname: "com" } }),
        row("setHostname", "409 HostnameHeld", { ...proved, body: { hostname: "wanted.example.org" } }),
        row("setHostname", "400 PortRefused", {
          as: ian,
          at: { id: ported.id },
          body: { hostname: "ssh.example.org" }
        }),
        foreign("setHostname", { body: { hostname: null } }),
        row("list", 200, { as, query: "?limit=1" }),
        row("get", 200, { as, at }),
        foreign("get"),
        row("change", 200, { as, at, body: { name: "renamed" } }),
        row("change", "400 PortRefused", { as: ian, at: { id: ported.id }, body: { require_login: true } }),
        foreign("change", { body: {} }),
        row("install", 200, { as, at }),
        row("install", "400 MalformedRequest", { as, at, headers: { "idempotency-key": "k".repeat(256) } }),
        foreign("install"),
        row("reclaim", 200, { as, at }),
        row("reclaim", "409 ClaimNotLapsed", { as, at }),
        foreign("reclaim"),
        row("rotateToken", "400 MalformedRequest", { as, at, headers: { "idempotency-key": "x".repeat(300) } }),
        row("rotateToken", 200, { as, at }),
        foreign("rotateToken"),
        row("grant", 200, { as, at, body: { grantee: "bob" } }),
        foreign("grant", { body: { grantee: "bob" } }),
        row("listGrantees", 200, { as, at, answer: { grantees: ["bob"] } }),
        foreign("listGrantees"),
        row("ungrant", 200, { as, at: { id, grantee: "bob" } }),
        row("ungrant", "404 GrantNotFound", { as, at: { id, grantee: "bob" } }),
        row("ungrant", "400 MalformedRequest", { as, at: { id, grantee: "%0A" } }),
        foreign("ungrant"),
        row("listAccessRequests", 200, { as, at }),
        foreign("listAccessRequests"),
        row("dismissAccessRequest", 200, { as, at: visitor }),
        row("dismissAccessRequest", "404 GrantNotFound", { as, at: visitor }),
        row("dismissAccessRequest", "400 MalformedRequest", { as, at: { id, email: "zz" } }),
        foreign("dismissAccessRequest"),
        row("allowVisitor", 200, { as, at, body: { email: "V@Example.Test" } }),
        row("allowVisitor", "400 MalformedRequest", { as, at, body: { email: "anonymous" } }),
        foreign("allowVisitor", { body: { email: "v@example.test" } }),
        row("listVisitors", 200, { as, at, answer: { emails: ["v@example.test"] } }),
        foreign("listVisitors"),
        row("disallowVisitor", 200, { as, at: visitor }),
        row("disallowVisitor", "400 MalformedRequest", { as, at: { id, email: "zz" } }),
        foreign("disallowVisitor"),
        foreign("remove"),
        row("remove", 200, { as, at }),
        row("remove", "404 TunnelNotFound", { as, at })
      ])
    })
  )
})
