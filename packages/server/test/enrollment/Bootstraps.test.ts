import { Tenant } from "@catenet/domain/enrollment/AgentStatus"
import * as Quotas from "@catenet/domain/values/Quotas"
import { BootstrapSecret, BootstrapToken } from "@catenet/domain/values/Tokens"
import { until } from "@catenet/testing/Eventually"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hashToken } from "../../src/runtime/TokenSecrets.ts"
import { unixSeconds } from "../../src/runtime/UnixClock.ts"
import { bootstrapRedemption, redemption } from "./Redemption.ts"

/** One-time tokens that are over go, each at its time, and none of them comes back as a fresh one. */
const database = Layer.unwrap(Effect.map(TestDatabase, ({ url }) => PgClient.layer({ url })))
const tenant = Tenant.make("pruned")

/** Every replica prunes as it starts. */
const prunedUntil = <A>(gone: Effect.Effect<ReadonlyArray<A>, unknown, SqlClient.SqlClient>) =>
  Effect.andThen(
    Layer.build(TestServer.replica()),
    until(gone, (rows) => rows.length === 0)
  )

const secretOf = Schema.decodeSync(BootstrapSecret)
const secret = secretOf("CT_JOIN_TOKEN=1;CT_AGENT_TOKEN=2")

const asDatabase = <A, E>(use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(TestDatabase, ({ url }) => Effect.provide(use, PgClient.layer({ url })))

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })((it) => {
  describe("one-time tokens that are over", () => {
    it.effect("are pruned at their time and not a second before", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const now = yield* unixSeconds
        // A minute on either side: the clock goes on while the test runs.
        const join = (mark: string, createdAt: number, redeemedAt: number | null) =>
          sql`insert into join_tokens ${sql.insert({ token_hash: mark.repeat(64), tenant, created_at: createdAt, redeemed_at: redeemedAt, redeemed_by: redeemedAt === null ? null : "a" })}`
        const bootstrap = (mark: string, expiresAt: number, redeemedAt: number | null) =>
          sql`insert into bootstrap_tokens ${sql.insert({ token_hash: mark.repeat(64), sealed: redeemedAt === null ? new Uint8Array(1) : null, created_at: 1, expires_at: expiresAt, redeemed_at: redeemedAt })}`
        yield* join("1", now - Quotas.unusedJoinTokenSeconds - 60, null)
        yield* join("2", now - Quotas.unusedJoinTokenSeconds + 60, null)
        yield* join("3", 1, now - Quotas.redeemedJoinTokenSeconds - 60)
        yield* join("4", 1, now - Quotas.redeemedJoinTokenSeconds + 60)
        yield* bootstrap("5", now - Quotas.endedBootstrapSeconds - 60, null)
        yield* bootstrap("6", now - Quotas.endedBootstrapSeconds + 60, null)
        yield* bootstrap("7", now + 600, now - Quotas.endedBootstrapSeconds - 60)
        yield* bootstrap("8", now + 600, now - Quotas.endedBootstrapSeconds + 60)
        const kept = (mark: string, expiresAt: number) =>
          sql`insert into bootstrap_tokens ${sql.insert({ token_hash: mark.repeat(64), sealed: new Uint8Array(1), created_at: 1, expires_at: expiresAt, redeemed_at: now, redeemed_by: "d".repeat(64) })}`
        yield* kept("9", now - 60)
        yield* kept("a", now + 60)
        const over = ["1", "3", "5", "7"].map((mark) => mark.repeat(64))
        yield* prunedUntil(sql`select token_hash from join_tokens where token_hash = any(${over}::text[])
        union all select token_hash from bootstrap_tokens where token_hash = any(${over}::text[])
        union all select token_hash from bootstrap_tokens where token_hash = ${"9".repeat(64)} and sealed is not null`)
        const left = yield* sql<{ token_hash: string }>`
        select token_hash from join_tokens union all select token_hash from bootstrap_tokens order by 1`
        assert.deepStrictEqual(
          left.map(({ token_hash }) => token_hash[0]),
          ["2", "4", "6", "8", "9", "a"]
        )
        const sealed = yield* sql<{ token_hash: string }>`
        select token_hash from bootstrap_tokens where redeemed_by is not null and sealed is not null`
        assert.deepStrictEqual(
          sealed.map(({ token_hash }) => token_hash[0]),
          ["a"],
          "a secret is kept for its key until the token's own end"
        )
        const [counted] = yield* sql<{ count: bigint }>`select count from pruned_redemptions`
        assert.strictEqual(counted?.count, 1n, "a redemption that is counted stays counted")
      }).pipe(Effect.provide(database), Effect.scoped)
    )

    it.effect("do not come back with the key of their batch", () =>
      Effect.gen(function* () {
        const { enrollment } = yield* TestServer.client
        const sql = yield* SqlClient.SqlClient
        const batch = { headers: {}, payload: { tenant, count: 2, idempotency_key: "batch" } }
        const { tokens } = yield* enrollment.issueBatch(batch)
        const [first] = tokens
        assert(first !== undefined)
        yield* enrollment.redeem(redemption(first, "a"))
        yield* sql`update join_tokens set redeemed_at = 1 where token_hash = ${hashToken(first)}`
        yield* prunedUntil(sql`select 1 from join_tokens where token_hash = ${hashToken(first)}`)
        const again = yield* enrollment.issueBatch(batch)
        assert.deepStrictEqual(again.tokens.map(Redacted.value), tokens.map(Redacted.value))
        const refused = yield* Effect.flip(enrollment.redeem(redemption(first, "b")))
        assert.strictEqual(refused._tag, "JoinTokenUnknown")

        yield* sql`update join_batches set created_at = 1`
        yield* prunedUntil(sql`select 1 from join_batches`)
        const fresh = yield* enrollment.issueBatch(batch)
        for (const token of fresh.tokens) assert.notInclude(tokens.map(Redacted.value), Redacted.value(token))
      }).pipe(Effect.provide(database), Effect.scoped)
    )

    it.effect("of a grantee do not count for the tenant", () =>
      Effect.gen(function* () {
        const { enrollment } = yield* TestServer.client
        const sql = yield* SqlClient.SqlClient
        const [tunnel, crowded] = ["1".repeat(32), Tenant.make("crowded")]
        yield* sql`insert into tunnels (id, subject, name, routing_token, created_at)
        values (${tunnel}, ${crowded}, 'n', ${"3".repeat(64)}, 1)`
        yield* sql`insert into tunnel_grants (tunnel_id, grantee) values (${tunnel}, 'guest')`
        yield* sql`insert into join_tokens (token_hash, tenant, tunnel, grantee, created_at)
        select md5('b' || n) || md5('c' || n), ${crowded}, ${tunnel}, 'guest', extract(epoch from now())::bigint
        from generate_series(1, ${Quotas.maxJoinTokensPerTenant}::integer) n`
        yield* enrollment.issue({ headers: {}, payload: { tenant: crowded } })
        const whole = { tenant: crowded, count: 100 }
        for (let n = 0; n < 9; n++) yield* enrollment.issueBatch({ headers: {}, payload: whole })
        const over = yield* Effect.flip(enrollment.issueBatch({ headers: {}, payload: whole }))
        assert.strictEqual(over._tag, "LimitReached", "a batch is issued whole or not at all")
        yield* enrollment.issueBatch({ headers: {}, payload: { tenant: crowded, count: 99 } })
      }).pipe(Effect.provide(database))
    )
  })

  describe("the bootstrap exchange", () => {
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
        yield* asDatabase(
          SqlClient.SqlClient.use((sql) => sql`update bootstrap_tokens set expires_at = expires_at - 61`)
        )
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
            (sql) =>
              sql`update bootstrap_tokens set expires_at = expires_at - 61 where token_hash = ${hashToken(token)}`
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
})
