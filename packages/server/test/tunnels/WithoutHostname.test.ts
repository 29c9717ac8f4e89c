import { TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Subject } from "@catenet/domain/values/Ids"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"

const variables = Effect.map(TestIssuer, ({ issuer }) => ({
  CT_OIDC_ISSUER: issuer,
  CT_CP_TUNNELS_PER_ACCOUNT: "3"
}))
const server = Layer.unwrap(Effect.map(variables, TestServer.layer)).pipe(Layer.provideMerge(TestIssuer.layer))

/** A client of an account at the replica around, once that can verify its token. */
const account = Effect.fnUntraced(function* (sub: string) {
  const { tunnels } = yield* TestServer.clientAs({ bearer: yield* bearerOf(sub) })
  return tunnels
})

const name = Schema.decodeSync(TunnelName)
const keyed = (key: string) => ({ "idempotency-key": key })

const audited = (actor: string) =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const rows = SqlClient.SqlClient.use(
      (sql) => sql<{ action: string; target: string }>`select action, target from audit_log where actor = ${actor}`
    )
    return yield* Effect.provide(rows, PgClient.layer({ url }))
  })

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a tunnel without a hostname", (it) => {
  it.effect("is shown as it is stored, and its creation is in the audit log", () =>
    Effect.gen(function* () {
      const ada = yield* account("ada")
      const made = yield* ada.create({ headers: {}, payload: { name: name("  plain ") } })
      assert.deepInclude(made, { name: name("plain"), hostname: null, status: "rot", owned: true })
      assert.deepStrictEqual(yield* ada.get({ params: { id: made.id } }), made)
      const other = yield* ada.create({ headers: keyed("k"), payload: { name: name("with a key") } })
      assert.sameDeepMembers([...(yield* ada.list({ query: {} }))], [made, other])
      assert.deepStrictEqual(
        yield* audited("ada"),
        [made, other].map(({ id }) => ({ action: "tunnel_enrolled", target: id as string }))
      )
    })
  )

  it.effect("is made once for one key, by however many requests at two replicas", () =>
    Effect.gen(function* () {
      const replica = yield* Layer.build(TestServer.replica(yield* variables))
      const here = yield* account("bob")
      const there = yield* Effect.provide(account("bob"), replica)
      for (const key of ["first", "second"]) {
        const create = { headers: keyed(key), payload: { name: name(key) } }
        const made = yield* Effect.all(
          Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? here : there).create(create)),
          { concurrency: "unbounded" }
        )
        for (const again of made) assert.deepStrictEqual(again, made[0])
        assert.deepStrictEqual(yield* there.create(create), made[0])
      }
      assert.strictEqual((yield* here.list({ query: {} })).length, 2)
      const reused = yield* Effect.flip(here.create({ headers: keyed("first"), payload: { name: name("other") } }))
      assert.strictEqual(reused._tag, "IdempotencyKeyReused")
      const eve = yield* account("eve")
      const hers = yield* eve.create({ headers: keyed("first"), payload: { name: name("first") } })
      assert.deepStrictEqual(yield* eve.list({ query: {} }), [hers])
    })
  )

  it.effect("is refused beyond the limit, and then its key was not used", () =>
    Effect.gen(function* () {
      const gus = yield* account(Subject.make("gus"))
      const results = yield* Effect.all(
        Array.from({ length: 24 }, (_, n) =>
          Effect.result(gus.create({ headers: keyed(`k${n}`), payload: { name: name(`t${n}`) } }))
        ),
        { concurrency: "unbounded" }
      )
      const kept = results.flatMap((result) => (result._tag === "Success" ? [result.success] : []))
      assert.strictEqual(kept.length, 3)
      const refused = results.findIndex((result) => result._tag === "Failure")
      for (const result of results) {
        if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "TunnelLimitReached")
      }
      yield* gus.remove({ params: { id: kept[0]?.id ?? assert.fail() } })
      const made = yield* gus.create({ headers: keyed(`k${refused}`), payload: { name: name("something else") } })
      assert.strictEqual((yield* gus.list({ query: {} })).length, 3)
      assert.strictEqual(made.name as string, "something else")
    })
  )
})
