import { BootstrapSecret, BootstrapToken } from "@catenet/domain/values/Tokens"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hashToken } from "../../src/runtime/TokenSecrets.ts"
import { bootstrapRedemption } from "./Redemption.ts"

const secretOf = Schema.decodeSync(BootstrapSecret)
const secret = secretOf("CT_JOIN_TOKEN=1;CT_AGENT_TOKEN=2")

const asDatabase = <A, E>(use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(TestDatabase, ({ url }) => Effect.provide(use, PgClient.layer({ url })))

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("the bootstrap exchange", (it) => {
  it.effect("gives the secret to exactly one of many", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const { token } = yield* enrollment.mintBootstrap({ headers: {}, payload: { secret } })
      const redeem = Effect.result(enrollment.redeemBootstrap({ payload: { token } }))
      const results = yield* Effect.all(
        Array.from({ length: 30 }, () => redeem),
        { concurrency: "unbounded" }
      )
      const won = results.flatMap((result) =>
        result._tag === "Success" ? [Redacted.value(result.success.secret)] : []
      )
      assert.deepStrictEqual(won, [Redacted.value(secret)])
      for (const result of results) {
        if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "BootstrapTokenSpent")
      }
    })
  )

  it.effect("is spent by the first attempt, even one that comes too late", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const { token } = yield* enrollment.mintBootstrap({ headers: {}, payload: { secret, ttl_secs: 60 } })
      yield* asDatabase(SqlClient.SqlClient.use((sql) => sql`update bootstrap_tokens set expires_at = expires_at - 61`))
      const attempt = Effect.flip(enrollment.redeemBootstrap({ payload: { token } }))
      assert.strictEqual((yield* attempt)._tag, "BootstrapTokenExpired")
      assert.strictEqual((yield* attempt)._tag, "BootstrapTokenSpent")
      const stranger = Schema.decodeSync(BootstrapToken)("99".repeat(32))
      const unknown = yield* Effect.flip(enrollment.redeemBootstrap({ payload: { token: stranger } }))
      assert.strictEqual(unknown._tag, "BootstrapTokenUnknown")
    })
  )

  it.effect("lists the tokens that still give out a secret, without it", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const mint = (ttl_secs: number) => enrollment.mintBootstrap({ headers: {}, payload: { secret, ttl_secs } })
      const [alive, late, spent] = [yield* mint(60), yield* mint(0), yield* mint(60)]
      yield* enrollment.redeemBootstrap({ payload: { token: spent.token } })
      const all = yield* enrollment.outstandingBootstraps({ query: {} })
      const listed = (minted: { readonly token: BootstrapToken }) =>
        all.filter(({ token_hash }) => token_hash === hashToken(minted.token))
      const [entry, ...more] = listed(alive)
      assert.isEmpty(more)
      assert.deepStrictEqual(Object.keys(entry ?? {}).toSorted(), ["created_at", "expires_at", "token_hash"])
      assert.strictEqual((entry?.expires_at ?? 0) - (entry?.created_at ?? 0), 60)
      assert.isEmpty([...listed(late), ...listed(spent)])
      assert.deepStrictEqual(yield* enrollment.outstandingBootstraps({ query: { limit: 1 } }), all.slice(0, 1))
    })
  )

  it.effect("keeps neither token nor secret readable in the database", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const { token } = yield* enrollment.mintBootstrap({ headers: {}, payload: { secret } })
      const rows = yield* asDatabase(
        SqlClient.SqlClient.use(
          (sql) => sql`select token_hash, encode(sealed, 'escape') as sealed from bootstrap_tokens`
        )
      )
      const stored = JSON.stringify(rows)
      assert.isAbove(rows.length, 0)
      assert.notInclude(stored, Redacted.value(token))
      assert.notInclude(stored, "CT_JOIN_TOKEN")
    })
  )

  it.effect("gives the secret of a redeemed token again to the key that redeemed it, and to no other", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const { token } = yield* enrollment.mintBootstrap({ headers: {}, payload: { secret } })
      const unsigned = bootstrapRedemption(token, "one", Schema.decodeSync(BootstrapToken)("98".repeat(32)))
      assert.strictEqual((yield* Effect.flip(enrollment.redeemBootstrap(unsigned)))._tag, "BootstrapProofRefused")
      const asked = Effect.result(enrollment.redeemBootstrap(bootstrapRedemption(token)))
      const results = yield* Effect.all(
        Array.from({ length: 10 }, () => asked),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(results.filter(Result.isSuccess), 1)
      for (const result of results) {
        const given = Result.isSuccess(result)
          ? result.success.secret
          : result.failure._tag === "BootstrapAlreadyRedeemed"
            ? result.failure.secret
            : assert.fail(result.failure._tag)
        assert.strictEqual(Redacted.value(given), Redacted.value(secret))
      }
      for (const stranger of [bootstrapRedemption(token, "another"), { payload: { token } }])
        assert.strictEqual((yield* Effect.flip(enrollment.redeemBootstrap(stranger)))._tag, "BootstrapTokenSpent")
    })
  )

  it.effect("gives it again until the token's own end, and keeps nothing of it after that", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const { token } = yield* enrollment.mintBootstrap({ headers: {}, payload: { secret, ttl_secs: 60 } })
      const redeem = enrollment.redeemBootstrap(bootstrapRedemption(token))
      yield* redeem
      const sealed = asDatabase(
        SqlClient.SqlClient.use(
          (sql) => sql<{ sealed: boolean }>`
          select sealed is not null as sealed from bootstrap_tokens where token_hash = ${hashToken(token)}`
        )
      )
      assert.deepStrictEqual(yield* sealed, [{ sealed: true }])
      assert.strictEqual((yield* Effect.flip(redeem))._tag, "BootstrapAlreadyRedeemed")
      yield* asDatabase(
        SqlClient.SqlClient.use(
          (sql) => sql`update bootstrap_tokens set expires_at = expires_at - 61 where token_hash = ${hashToken(token)}`
        )
      )
      assert.strictEqual((yield* Effect.flip(redeem))._tag, "BootstrapTokenSpent")
      assert.deepStrictEqual(yield* sealed, [{ sealed: false }])
    })
  )

  it.effect("takes key and proof together, or neither", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const { token } = yield* enrollment.mintBootstrap({ headers: {}, payload: { secret } })
      const { pubkey, proof } = bootstrapRedemption(token).payload
      for (const half of [{ pubkey }, { proof }]) {
        const { status } = yield* TestServer.raw("/bootstrap/redeem", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ token: Redacted.value(token), ...half })
        })
        assert.strictEqual(status, 422)
      }
      yield* enrollment.redeemBootstrap(bootstrapRedemption(token))
    })
  )
})
