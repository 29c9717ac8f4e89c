import * as Accounts from "@catenet/testing/server/Accounts"
import { server as plainServer } from "@catenet/testing/server/Accounts"
import { hold, row, type Row } from "@catenet/testing/server/Contract"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { account, server } from "./RealmServer.ts"
import { TestRealm } from "./TestRealm.ts"

const ada = { bearer: "ada" }
const bob = { bearer: "bob" }
const id = (digit: string) => `sa-${digit.repeat(32)}`
const at = (digit: string) => ({ at: { client_id: id(digit) } })
const broken = ({ body, path }: { readonly body: string; readonly path: string }) =>
  path.includes("broken") || body.includes("broken")

/** Accounts that are on record: of ada 1 and 2, of which the provider has lost 2 and fails for 3; of `full` all fifty. */
const onRecord = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { decide, idp } = yield* TestRealm
  decide((call) => (broken(call) ? "refuse" : "pass"))
  const client = idp.store.client("manager")
  assert(client !== undefined)
  const like = { ...client, id: "internal-1", clientId: id("1"), managementRoles: [] }
  yield* Effect.promise(() => idp.store.putClient(like))
  const row = (owner: string, clientId: string, place: number, internalId: string) => ({
    clientId,
    owner,
    name: `${owner} ${place}`,
    state: "active",
    place,
    internalId,
    createdAt: 1000 + place,
    dueAt: 0
  })
  const numbered = (n: number) => `sa-${String(n).padStart(32, "0")}`
  yield* sql`insert into service_accounts ${sql.insert([
    row("ada", id("1"), 1, "internal-1"),
    row("ada", id("2"), 2, "lost"),
    row("ada", id("3"), 3, "broken"),
    ...Array.from({ length: 50 }, (_, n) => row("full", numbered(n + 1), n + 1, "unused"))
  ])}`
}).pipe(Effect.provide(Accounts.database))

const listed = (place: number) => ({
  client_id: id(String(place)),
  name: `ada ${place}`,
  created_at: 1000 + place
})
const key = { "idempotency-key": "a key of mine" }

const rows: ReadonlyArray<Row> = [
  row("list", 200, { as: ada, answer: [1, 2, 3].map(listed), because: "oldest first, without secrets" }),
  row("list", 200, { as: ada, query: "?limit=1", answer: [listed(1)] }),
  row("list", 200, { as: bob, answer: [], because: "nothing of others is seen" }),
  row("get", 200, { as: ada, ...at("1"), answer: listed(1) }),
  row("get", "404 ServiceAccountNotFound", { as: bob, ...at("1") }),
  row("get", "404 ServiceAccountNotFound", { as: ada, at: { client_id: "no-client-id" } }),
  row("create", 200, { as: ada, headers: key, body: { name: " build server " } }),
  row("create", "409 IdempotencyKeyReused", { as: ada, headers: key, body: { name: "another" } }),
  row("create", 200, { as: bob, headers: key, body: { name: "another" }, because: "keys are the caller's" }),
  row("create", "400 MalformedRequest", { as: ada, body: { name: " " } }),
  row("create", "400 MalformedRequest", { as: ada, body: { name: "x".repeat(201) } }),
  row("create", "422 WrongShape", { as: ada, body: { name: 7 } }),
  row("create", "400 ServiceAccountLimitReached", { as: { bearer: "full" }, body: { name: "one more" } }),
  row("create", "502 IdentityProviderFailed", { as: ada, body: { name: "broken" } }),
  row("rotate", 200, { as: ada, ...at("1") }),
  row("rotate", "404 ServiceAccountNotFound", { as: bob, ...at("1") }),
  row("rotate", "404 ServiceAccountNotFound", { as: ada, ...at("9") }),
  row("rotate", "502 IdentityProviderFailed", { as: ada, ...at("2"), because: "it is gone there" }),
  row("remove", "404 ServiceAccountNotFound", { as: bob, ...at("1") }),
  row("remove", "404 ServiceAccountNotFound", { as: ada, ...at("9") }),
  row("remove", "502 IdentityProviderFailed", { as: ada, ...at("3") }),
  row("get", 200, { as: ada, ...at("3"), because: "nothing was changed" }),
  row("remove", 204, { as: ada, ...at("2"), because: "what is gone there can be deleted here" }),
  row("remove", 204, { as: ada, ...at("1") }),
  row("remove", "404 ServiceAccountNotFound", { as: ada, ...at("1") })
]

const elsewhere = "is asked of a server without a provider"

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("service accounts", (it) => {
  it.effect("answer as declared", () =>
    Effect.andThen(
      onRecord,
      hold("serviceAccounts", ada, rows, {
        "create IdentityProviderNotConfigured": elsewhere,
        "rotate IdentityProviderNotConfigured": elsewhere,
        "remove IdentityProviderNotConfigured": elsewhere
      })
    )
  )
})

layer(plainServer(), { excludeTestServices: true, timeout: "60 seconds" })("without a provider", (it) => {
  it.effect("there is nothing to make, renew or delete accounts with", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const row = { clientId: id("1"), owner: "ada", name: "x", state: "active", place: 1, internalId: "i" }
      yield* sql`insert into service_accounts ${sql.insert({ ...row, createdAt: 1, dueAt: 0 })}`
      const mine = yield* account("ada")
      const answers = [yield* mine.create("x"), yield* mine.rotate(id("1")), yield* mine.remove(id("1"))]
      for (const { body, status } of answers) {
        assert.deepStrictEqual([status, body.code], [503, "IdentityProviderNotConfigured"])
      }
      assert.strictEqual((yield* mine.rotate(id("2"))).status, 404)
      assert.strictEqual((yield* mine.get(id("1"))).status, 200)
    }).pipe(Effect.provide(Accounts.database))
  )
})
