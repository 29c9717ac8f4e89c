/** A server that administers a realm of its own, and the requests of its callers. */
import { until } from "@catenet/testing/Eventually"
import * as Accounts from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { clients, TestRealm, variables } from "./TestRealm.ts"

/** The variables of its servers. */
export const settings = Effect.gen(function* () {
  const { issuer } = yield* TestIssuer
  return { CT_OIDC_ISSUER: issuer, ...(yield* variables) }
})

export const server = Layer.unwrap(Effect.map(settings, TestServer.layer)).pipe(
  Layer.provideMerge(Layer.merge(TestIssuer.layer, TestRealm.layer))
)

/** A second replica over the same database and the same realm. */
export const second = Effect.gen(function* () {
  const context = yield* Layer.build(TestServer.replica(yield* settings))
  const there = Effect.provideService(HttpServer.HttpServer, Context.get(context, HttpServer.HttpServer))
  yield* there(Accounts.bearerOf("anonymous"))
  return there
})

const json = (response: Response) =>
  Effect.promise(async () => {
    const text = await response.text()
    return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as any) }
  })

/** Requests of one account; the token is fetched once. */
export const account = (subject: string) =>
  Effect.map(Accounts.bearerOf(subject), (token) => {
    const send = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
      Effect.flatMap(
        TestServer.raw(`/me/service-accounts${path}`, {
          method,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        }),
        json
      )
    return {
      create: (name: string, key?: string) =>
        send("POST", "", { name }, key === undefined ? {} : { "idempotency-key": key }),
      list: Effect.map(send("GET", ""), ({ body }) => body as ReadonlyArray<{ client_id: string; name: string }>),
      get: (id: string) => send("GET", `/${id}`),
      rotate: (id: string) => send("POST", `/${id}/rotate`),
      remove: (id: string) => send("DELETE", `/${id}`)
    }
  })

/** Every row of the table, whatever its state. */
export const rows = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ clientId: string; state: string; owner: string }>`select client_id, state, owner from service_accounts`
).pipe(Effect.provide(Accounts.database), Effect.orDie)

/** Makes everything due now that waits for the cleanup. */
export const makeDue = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`update service_accounts set due_at = 0 where state <> 'active'`
).pipe(Effect.provide(Accounts.database), Effect.orDie)

/** Waits until the table and the realm hold the same accounts, all of them active, and answers how many. */
export const agreed = Effect.gen(function* () {
  yield* makeDue
  const here = yield* rows
  const there = yield* clients
  const same = here.every(({ clientId, state }) => state === "active" && there.includes(clientId))
  return same && here.length === there.length ? here.length : undefined
}).pipe(
  (count) => until(count, (same) => same !== undefined),
  Effect.orDie,
  Effect.tap((count) => Effect.sync(() => assert.isDefined(count)))
)
