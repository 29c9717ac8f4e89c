import { Email } from "@catenet/domain/values/Email"
import {
  accessRequestSeconds,
  maxAccessRequestsPerBlock,
  maxAccessRequestsPerTunnel
} from "@catenet/domain/values/Quotas"
import { gated, isRefusedAsTooMany, replica, server, text, triesOver } from "@catenet/testing/server/gate/SignInServer"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Gate from "../../src/gate/Gate.ts"
import { sha256Hex } from "../../src/runtime/TokenSecrets.ts"

const form = "application/x-www-form-urlencoded"
const path = "/gate/request-access"
const ask = (fields: Readonly<Record<string, string>>, type = form) =>
  TestServer.raw(path, {
    method: "POST",
    headers: { "content-type": type },
    body: new URLSearchParams(fields).toString()
  })

/** Asks as a proxy would have it for a client at this address. */
const askFrom = (address: string, fields: Readonly<Record<string, string>>) =>
  TestServer.raw(path, {
    method: "POST",
    headers: { "content-type": form, "x-forwarded-for": address },
    body: new URLSearchParams(fields).toString()
  })

const database = Layer.unwrap(Effect.map(TestDatabase, ({ url }) => PgClient.layer({ url, maxConnections: 1 })))

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("visitors who ask for access", (it) => {
  it.effect("leave one request with the owner, who lets them in or does not", () =>
    Effect.gen(function* () {
      const host = "door.zone.example"
      const { id, tunnels } = yield* gated(host)
      const page = yield* TestServer.raw(`${path}?host=${host}`)
      assert.strictEqual(page.status, 200)
      assert.include(yield* text(page), `name="host" value="${host}"`)
      const note = `it is me\n\u0000${"x".repeat(600)}`
      const answer = yield* ask({ host: "Door.zone.example", email: " Vera@Example.test", note })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual((yield* ask({ host, email: "vera@example.test", note: "again" })).status, 200)
      const requests = yield* tunnels.listAccessRequests({ params: { id }, query: {} })
      assert.deepStrictEqual(
        requests.map((request) => [request.email, request.note]),
        [["vera@example.test", `it is me ${"x".repeat(491)}`]]
      )
      const vera = Schema.decodeSync(Email)("vera@example.test")
      yield* tunnels.allowVisitor({ params: { id }, payload: { email: vera } })
      const late = yield* ask({ host, email: vera })
      assert.strictEqual(late.status, 200, "the answer does not show who is on the list")
      assert.strictEqual((yield* text(late)).includes("has been asked"), true)
      assert.deepStrictEqual(yield* tunnels.listAccessRequests({ params: { id }, query: {} }), [])
    })
  )

  it.effect("are refused precisely, and leave nothing then", () =>
    Effect.gen(function* () {
      const host = "shut.zone.example"
      const { id, tunnels } = yield* gated(host)
      const email = "eve@example.test"
      const cases = [
        [yield* TestServer.raw(`${path}?host=unknown.zone.example`), 404],
        [yield* TestServer.raw(path), 404],
        [yield* ask({ host: "unknown.zone.example", email }), 404],
        [yield* ask({ host: "%00", email }), 404],
        [yield* ask({ host }), 400],
        [yield* ask({ email }), 422],
        [yield* ask({ host, email: "<script>" }), 400],
        [yield* ask({ host: "unknown.zone.example", email: "<script>" }), 404],
        [yield* ask({ host, email }, "application/json"), 415],
        [yield* ask({ host, email, note: "x".repeat(2 * 1024 * 1024) }), 413],
        [yield* TestServer.raw(path, { method: "PUT" }), 405]
      ] as const
      for (const [{ status }, expected] of cases) assert.strictEqual(status, expected)
      assert.deepStrictEqual(yield* tunnels.listAccessRequests({ params: { id }, query: {} }), [])
      const strict = yield* replica({ CT_CP_UNAUTH_WRITE_PER_MIN: "1" })
      assert.isTrue(isRefusedAsTooMany(yield* Effect.forEach(triesOver(1), () => strict(ask({ host, email })))))
    }).pipe(Effect.scoped)
  )

  it.effect("fill no more than their owner can read, whichever replica they come to", () =>
    Effect.gen(function* () {
      const host = "full.zone.example"
      const { id, tunnels } = yield* gated(host)
      const other = yield* replica()
      yield* Effect.forEach(
        Array.from({ length: 204 }, (_, n) => n),
        (n) => {
          const asked = askFrom(`192.0.2.${n}`, { host, email: `v${n}@example.test` })
          return n % 2 === 0 ? asked : other(asked)
        },
        { concurrency: 8, discard: true }
      )
      const kept = yield* tunnels.listAccessRequests({ params: { id }, query: {} })
      assert.strictEqual(kept.length, maxAccessRequestsPerTunnel)
    }).pipe(Effect.scoped)
  )

  for (const [kind, addresses] of [
    ["an IPv4 address", ["198.51.100.7"]],
    ["a /64 of IPv6", ["2001:db8:1:2::1", "2001:db8:1:2:ffff::2", "[2001:db8:1:2::3]:4711"]]
  ] as const)
    it.effect(`are five from ${kind}, however many are made at once, and room is made by an answer`, () =>
      Effect.gen(function* () {
        const host = `block-${addresses.length}.zone.example`
        const { id, tunnels } = yield* gated(host)
        const other = yield* replica()
        const askAs = (n: number) => askFrom(addresses[n % addresses.length]!, { host, email: `v${n}@example.test` })
        const answers = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, n) => n),
          (n) => (n % 2 === 0 ? askAs(n) : other(askAs(n))),
          { concurrency: 12 }
        )
        assert.isTrue(
          answers.every(({ status }) => status === 200),
          "the answer does not show whether it was stored"
        )
        const emails = Effect.map(tunnels.listAccessRequests({ params: { id }, query: {} }), (list) =>
          list.map(({ email }): string => email)
        )
        const [first, ...others] = yield* tunnels.listAccessRequests({ params: { id }, query: {} })
        assert.strictEqual(others.length + 1, maxAccessRequestsPerBlock)

        const neighbour = addresses.length === 1 ? "198.51.100.8" : "2001:db8:1:3::1"
        yield* askFrom(neighbour, { host, email: "neighbour@example.test" })
        assert.include(yield* emails, "neighbour@example.test")

        yield* tunnels.dismissAccessRequest({ params: { id, email: first!.email } })
        for (const n of [20, 21]) yield* askAs(n)
        const now = yield* emails
        assert.include(now, "v20@example.test")
        assert.notInclude(now, "v21@example.test")
      }).pipe(Effect.scoped)
    )

  it.effect("are kept without the address, and forgotten after 30 days", () =>
    Effect.gen(function* () {
      const host = "old.zone.example"
      const { id } = yield* gated(host)
      for (const n of [1, 2]) yield* askFrom("203.0.113.9", { host, email: `v${n}@example.test` })
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ block: string; text: string }>`
        select block, r::text as text from tunnel_access_requests r where tunnel_id = ${id}`
      assert.strictEqual(new Set(rows.map(({ block }) => block)).size, 1)
      for (const { block, text } of rows) {
        assert.match(block, /^[0-9a-f]{32}$/u)
        assert.notInclude(text, "203.0.113.9")
        assert.notInclude(text, sha256Hex("203.0.113.9").slice(0, 32))
      }
      const now = Math.floor(Date.now() / 1_000)
      yield* sql`update tunnel_access_requests set at = ${now} - case email
        when 'v1@example.test' then ${accessRequestSeconds}::int else ${accessRequestSeconds - 1}::int end
        where tunnel_id = ${id}`
      yield* (yield* Gate.makeAccessRequestStore).prune(now)
      const left = yield* sql<{ email: string }>`select email from tunnel_access_requests where tunnel_id = ${id}`
      assert.deepStrictEqual(left, [{ email: "v2@example.test" }])
    }).pipe(Effect.provide(database))
  )
})
