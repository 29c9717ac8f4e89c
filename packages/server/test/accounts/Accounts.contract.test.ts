import * as Accounts from "@catenet/testing/server/Accounts"
import { hold, row } from "@catenet/testing/server/Contract"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const server = Layer.unwrap(
  Effect.map(TestIssuer, ({ issuer }) =>
    TestServer.layer({ CT_OIDC_ISSUER: issuer, CT_CP_HOSTNAME_ZONE: "zone.example" })
  )
).pipe(Layer.provideMerge(TestIssuer.layer))

const ada = { bearer: "ada" }
const json = (response: Response) => Effect.promise(() => response.json() as Promise<any>)
const asAda = Effect.map(Accounts.bearerOf("ada"), (token) => ({ authorization: `Bearer ${token}` }))

const makeTunnel = Effect.gen(function* () {
  const headers = { "content-type": "application/json", ...(yield* asAda) }
  const response = yield* TestServer.raw("/me/tunnels", {
    method: "POST",
    headers,
    body: JSON.stringify({ name: "n" })
  })
  return yield* json(response)
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("accounts", (it) => {
  it.effect("hold the contract of their owner", () =>
    Effect.gen(function* () {
      yield* makeTunnel
      const header = { "idempotency-key": "k" }
      yield* hold("accounts", ada, [
        row("buyCredits", 200, { as: ada, headers: header, body: { credits: 1 } }),
        row("buyCredits", "409 IdempotencyKeyReused", { as: ada, headers: header, body: { credits: 2 } }),
        row("buyCredits", "400 CreditsOutOfRange", { as: ada, body: { credits: 0 } }),
        row("listPayments", 200, { as: ada }),
        row("auditLog", 200, { as: ada, query: "?limit=1" }),
        row("remove", "400 MalformedRequest", { as: ada, body: { confirm: "delete" } }),
        row("remove", 200, { as: ada, body: { confirm: "DELETE" } })
      ])
      const tunnels = yield* TestServer.raw("/me/tunnels", { headers: yield* asAda })
      assert.deepStrictEqual(yield* json(tunnels), [])
      const log = yield* json(yield* TestServer.raw("/me/audit-log", { headers: yield* asAda }))
      assert.deepStrictEqual(
        log.map(({ action }: { action: string }) => action),
        ["account_deleted", "tunnel_enrolled"]
      )
    })
  )

  it.effect("leave their credits and the ledger when they end, and nothing else", () =>
    Effect.gen(function* () {
      const headers = { "content-type": "application/json", authorization: `Bearer ${yield* Accounts.bearerOf("eva")}` }
      const get = (path: string) => Effect.flatMap(TestServer.raw(path, { headers }), json)
      const { account } = yield* get("/me/account")
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into credit_ledger (account, delta, reason, at) values (${account}, 7, 'paid', 1)`
      const body = JSON.stringify({ confirm: "DELETE" })
      assert.strictEqual((yield* TestServer.raw("/me/account/delete", { method: "POST", headers, body })).status, 200)
      const lines = yield* sql`select delta from credit_ledger where account = ${account}`
      assert.strictEqual(lines.length, 1)
      assert.deepInclude(yield* get("/me/account"), { account, balance: 7 })
    }).pipe(Effect.provide(Layer.fresh(Accounts.database)))
  )

  it.effect("hold the contract of their operator", () =>
    Effect.gen(function* () {
      yield* makeTunnel
      const at = { subject: "ada" }
      const future = { subject: "not-here-yet" }
      const usual = { max_tunnels: 10, max_channels: 100, max_ports: 5, max_hosts: 1000, max_rules: 500 }
      yield* hold("operators", "operator", [
        row("limits", 200, { as: "operator", at, answer: { subject: "ada", ...usual } }),
        row("setMaxTunnels", 200, { as: "operator", at, body: { max: 0 } }),
        row("setMaxChannels", 200, { as: "operator", at, body: { max: 7 } }),
        row("limits", 200, {
          as: "operator",
          at,
          answer: { ...usual, subject: "ada", max_tunnels: 0, max_channels: 7 }
        }),
        row("limits", "400 MalformedRequest", { as: "operator", at: { subject: "%0A" } }),
        row("limits", 200, { as: "operator", at: future, answer: { ...usual, ...future } }),
        row("setMaxTunnels", 200, { as: "operator", at: future, body: { max: 1 } }),
        row("setMaxChannels", 200, { as: "operator", at: future, body: { max: 2 } }),
        row("limits", 200, {
          as: "operator",
          at: future,
          answer: { ...usual, ...future, max_tunnels: 1, max_channels: 2 }
        }),
        row("changeLimits", 200, {
          as: "operator",
          at: future,
          body: { max_tunnels: null, max_ports: 0, max_hosts: 3 },
          answer: { ...usual, ...future, max_channels: 2, max_ports: 0, max_hosts: 3 }
        }),
        row("changeLimits", "422 WrongShape", { as: "operator", at: future, body: { max_ports: -1 } }),
        row("changeLimits", "422 WrongShape", { as: "operator", at: future, body: { max_pots: 1 } }),
        row("setMaxTunnels", "422 WrongShape", { as: "operator", at: future, body: { max: 1, until: "friday" } }),
        row("auditLog", 200, { as: "operator", query: "?action=account_max_tunnels_set&target=ada" })
      ])
    })
  )

  it.effect("leave a log that no role can change", () =>
    Effect.gen(function* () {
      yield* makeTunnel
      const { url } = yield* TestDatabase
      const attempt = (statement: string) =>
        Effect.flip(SqlClient.SqlClient.use((sql) => sql.unsafe(statement))).pipe(
          Effect.provide(PgClient.layer({ url }))
        )
      for (const statement of ["update audit_log set actor = 'eve'", "delete from audit_log", "truncate audit_log"]) {
        assert.strictEqual((yield* attempt(statement)).reason._tag, "AuthorizationError", statement)
      }
      const first = yield* TestServer.raw("/admin/audit-log?limit=1", {
        headers: { "x-ct-admin-token": TestServer.adminToken }
      })
      assert.strictEqual((yield* json(first)).length, 1)
    })
  )
})
