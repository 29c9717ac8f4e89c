import { ChannelId, Grant } from "@catenet/domain/channels/Channel"
import { HolderKey } from "@catenet/domain/values/Keys"
import { database } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, References, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ChannelStore } from "../../src/channels/ChannelStore.ts"
import { migrate } from "../../src/store/Migrations.ts"
import * as Reseal from "../../src/store/Reseal.ts"
import { Sealing } from "../../src/store/Sealing.ts"
import { AlertStore } from "../../src/tunnels/alerts/AlertStore.ts"
import { GateCodeStore } from "../../src/tunnels/GateCodeStore.ts"
import { GateStore } from "../../src/tunnels/GateStore.ts"

const key = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const under = (...bytes: readonly [number, ...ReadonlyArray<number>]) => {
  const [first, ...others] = bytes
  return Effect.provide(Layer.fresh(Sealing.layerOf(key(first), ...others.map(key))))
}
const quiet = Effect.provideService(References.MinimumLogLevel, "Fatal")

const hex = (digit: string, length = 64) => digit.repeat(length)
const channel = Schema.decodeSync(ChannelId)(hex("c"))
const holderAt = (index: number) => Schema.decodeSync(HolderKey)(index.toString(16).padStart(64, "0"))
const grantAt = (index: number) => Schema.decodeSync(Grant)(index.toString(16).padStart(278, "0"))

const members = (count: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`insert into channels (channel, owner, operator_pubkey, created_at)
      values (${channel}, 'ada', ${hex("a")}, 0) on conflict do nothing`
    yield* sql`insert into channel_members (channel, holder, noise_pubkey, noise_attestation)
      select ${channel}, lpad(to_hex(n), 64, '0'), ${hex("b")}, ${hex("d", 128)} from generate_series(1, ${count}::int) n`
  })

const grants = Effect.gen(function* () {
  const store = yield* ChannelStore.make
  const rows = yield* store.grants({ of: channel, after: undefined, limit: undefined })
  return rows.map(({ grant }) => grant)
})

const stored = SqlClient.SqlClient.use(
  (sql) => sql<{ text: string }>`select grant_hex as text from channel_grants order by holder`
)
const reseal = Effect.flatMap(Reseal.make, ({ run }) => run)
const keyIds = Effect.flatMap(Reseal.make, (reseals) => reseals.keyIds)

layer(database.pipe(Layer.provideMerge(TestDatabase.layerEmpty)), { excludeTestServices: true, timeout: "60 seconds" })(
  "values that are not sealed",
  (it) => {
    it.effect("remain readable and are sealed at the next start", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrate
        yield* members(2)
        yield* sql`insert into channel_grants (channel, holder, grant_hex)
          select channel, holder, lpad(ltrim(holder, '0'), 278, '0') from channel_members`
        assert.deepStrictEqual(yield* under(1)(grants), [grantAt(1), grantAt(2)])
        assert.strictEqual(yield* under(1)(reseal), 2)
        for (const { text } of yield* stored) assert.match(text, /^s1\./)
        assert.deepStrictEqual(yield* under(1)(grants), [grantAt(1), grantAt(2)])
        assert.strictEqual(yield* under(1)(reseal), 0)
      }).pipe(quiet)
    )

    it.effect("of pending sign-ins lead to the same page before and after that start", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const browser = hex("b")
        const [early, late] = [hex("1"), hex("2")]
        for (const hash of [early, late]) {
          yield* sql`insert into gate_sign_ins ${sql.insert({ secretHash: hash, host: "a.test", path: "/p?k=v", expiresAt: 9 })}`
          yield* sql`insert into gate_codes
            (code_hash, browser, host, path, subject, sign_in, session_expires_at, expires_at)
            values (${hash}, ${browser}, 'a.test', '/p?k=v', 'ada', 's', 9, 9)`
        }
        yield* sql`insert into portal_sign_ins ${sql.insert({ secretHash: early, next: "/portal/claim?invite=i", expiresAt: 9 })}`
        const led = (hash: string) =>
          under(1)(
            Effect.gen(function* () {
              const begun = yield* Effect.flatMap(GateStore.make, ({ take }) => take({ secretHash: hash, now: 1 }))
              const shown = { codeHash: hash, browser, host: "a.test", tokenHash: hash, now: 1 }
              const code = yield* Effect.flatMap(GateCodeStore.make, ({ exchange }) => exchange(shown))
              return [Option.map(begun, ({ path }) => path), Option.map(code, ({ path }) => path)]
            })
          )
        assert.deepStrictEqual(yield* led(early), [Option.some("/p?k=v"), Option.some("/p?k=v")])
        assert.strictEqual(yield* under(1)(reseal), 3)
        const left = yield* sql<{ text: string }>`select path as text from gate_sign_ins
          union all select path from gate_codes union all select next from portal_sign_ins`
        assert.deepStrictEqual(
          left.map(({ text }) => text.slice(0, 3)),
          ["s1.", "s1.", "s1."]
        )
        assert.deepStrictEqual(yield* led(late), [Option.some("/p?k=v"), Option.some("/p?k=v")])
      }).pipe(quiet)
    )

    it.effect("of webhooks lead to the same address before and after that start", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tunnel = hex("a", 32)
        const address = "https://hooks.example/T0/secret"
        yield* sql`insert into tunnels (id, subject, name, routing_token, created_at)
          values (${tunnel}, 'ada', 'a', ${hex("a")}, 0)`
        yield* sql`insert into alerts (tunnel_id, webhook_url, threshold_seconds, secret, state, since, due_at)
          values (${tunnel}, ${address}, 60, ${hex("0")}, 'unknown', 0, 0)`
        const found = under(1)(Effect.flatMap(AlertStore.make, ({ find }) => find(tunnel)))
        const read = Effect.map(found, (alert) => Option.map(alert, ({ webhookUrl }) => webhookUrl))
        assert.deepStrictEqual(yield* read, Option.some(address))
        assert.strictEqual(yield* under(1)(reseal), 2)
        const [row] = yield* sql<{ text: string }>`select webhook_url as text from alerts`
        assert.match(row?.text ?? "", /^s1\./)
        assert.deepStrictEqual(yield* read, Option.some(address))
      }).pipe(quiet)
    )
  }
)

layer(database.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true, timeout: "60 seconds" })(
  "the seal key",
  (it) => {
    it.effect("is changed while two replicas begin with different ones, without a value lost", () =>
      Effect.gen(function* () {
        const count = 450
        yield* members(count)
        const deposit = (index: number) =>
          Effect.flatMap(ChannelStore.make, ({ putGrant }) =>
            putGrant({ channel, holder: holderAt(index), grantHex: grantAt(index) })
          )
        const all = Array.from({ length: count }, (_, index) => index + 1)
        yield* under(1)(Effect.forEach(all, deposit, { discard: true }))
        const both = yield* Effect.all([under(2, 1)(reseal), under(2, 1)(reseal), under(1, 2)(deposit(7))], {
          concurrency: "unbounded"
        })
        yield* under(2, 1)(reseal)
        assert.isAtLeast(both[0] + both[1], count - 1)
        assert.strictEqual((yield* under(2)(keyIds)).size, 1)
        assert.deepStrictEqual(yield* under(2)(grants), all.map(grantAt))
      }).pipe(quiet)
    )

    it.effect("is refused at the start, by name, where the database has values of another", () =>
      Effect.gen(function* () {
        const refusal = yield* Effect.flip(under(3)(Effect.flatMap(Reseal.make, ({ check }) => check)))
        assert.strictEqual(refusal._tag, "ConfigurationInvalid")
        assert.match(refusal.message, /^CT_CP_SEAL_KEY lacks the key [0-9a-f]{8}, under which values of channel_grants/)
        const failure = yield* Effect.flip(
          Layer.build(TestServer.replica({ CT_CP_SEAL_KEY: hex("9") })).pipe(Effect.scoped)
        )
        assert.include(failure.message, "CT_CP_SEAL_KEY lacks the key")
      }).pipe(quiet)
    )

    it.effect("binds what it seals to the column", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into tunnels (id, subject, name, routing_token, created_at)
          values (${hex("e", 32)}, 'ada', 'a', ${hex("f")}, 0)`
        const [first] = yield* stored
        yield* sql`insert into alerts (tunnel_id, webhook_url, threshold_seconds, secret, state, since, due_at)
          values (${hex("e", 32)}, 'https://x', 60, ${first?.text ?? ""}, 'unknown', 0, 0)`
        const store = yield* under(2)(AlertStore.make)
        const failure = yield* Effect.flip(store.find(hex("e", 32)))
        assert.include(String(failure), "sealed for another place")
        assert.notInclude(String(failure), grantAt(1))
        yield* sql`delete from alerts`
      }).pipe(quiet)
    )
  }
)
