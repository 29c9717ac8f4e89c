/** A mail that several replicas have before them leaves at most one of them, also where one ends on the way. */
import { until } from "@catenet/testing/Eventually"
import { database } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { SqlClient } from "effect/sql"
import { NoticeMails } from "../../src/notices/mail/NoticeMails.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { mailServer, roots } from "./MailServer.ts"

/** The service of one replica, over connections of its own. */
const replica = (url: string) => {
  const settings = Settings.layer.pipe(
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({
          CT_CP_DATABASE_URL: "postgres://localhost/none",
          CT_PORTAL_BASE_URL: "https://portal.example",
          CT_CP_SMTP_URL: url,
          CT_CP_SMTP_ROOTS: roots
        })
      )
    )
  )
  return NoticeMails.layer.pipe(
    Layer.provide([Layer.fresh(database), SecureRandom.layerWebCrypto, settings]),
    Layer.fresh,
    Layer.build,
    Effect.flatMap((context) => Effect.provide(NoticeMails, context))
  )
}

/** Accounts that want mail and have one notice each: an invitation to a channel. */
const accounts = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const channel = "ab".repeat(32)
  yield* sql`insert into channels (channel, owner, operator_pubkey, created_at) values (${channel}, 'somebody', ${channel}, 1)
    on conflict do nothing`
  for (const name of names) {
    const email = `${name}@a.example`
    yield* sql`insert into mail_accounts (subject, wanted, language, due_at) values (${name}, true, 'en', 0)`
    yield* sql`insert into account_emails (subject, email) values (${name}, ${email})`
    yield* sql`insert into channel_allowlist (channel, email) values (${channel}, ${email})`
  }
})
const statesOf = (name: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql<{ state: string }>`select state from notice_mails where subject = ${name} order by id`, (rows) =>
      rows.map(({ state }) => state)
    )
  )
const leaseOver = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`update notice_mails set due_at = 0`)

layer(Layer.provideMerge(database, TestDatabase.layer), { excludeTestServices: true, timeout: "60 seconds" })(
  "one mail at two replicas",
  (it) => {
    it.effect("is written once and sent once by both at once, over and over", () =>
      Effect.gen(function* () {
        const { arrived, url } = yield* mailServer("smtps")
        const both = [yield* replica(url()), yield* replica(url())]
        const names = Array.from({ length: 12 }, (_, n) => `race-${n}`)
        yield* accounts(names)
        const sql = yield* SqlClient.SqlClient
        for (let round = 0; round < 3; round++) {
          yield* sql`update mail_accounts set due_at = 0`
          yield* Effect.all(
            both.flatMap(({ collect }) => [collect, collect]),
            { concurrency: "unbounded" }
          )
          yield* Effect.all(
            both.flatMap(({ deliver }) => [deliver, deliver]),
            { concurrency: "unbounded" }
          )
        }
        assert.deepStrictEqual(
          arrived.map(({ to }) => to[0]).toSorted(),
          names.map((name) => `${name}@a.example`).toSorted()
        )
        for (const name of names) assert.deepStrictEqual(yield* statesOf(name), ["sent"])
      }).pipe(Effect.scoped)
    )

    it.effect("is sent by the other where one is killed before it handed it over", () =>
      Effect.gen(function* () {
        const { arrived, state, url, waiting } = yield* mailServer("smtps")
        const [one, other] = [yield* replica(url()), yield* replica(url())]
        yield* accounts(["killed-early"])
        yield* one.collect
        state.mood = "greets no one"
        const killed = yield* Effect.forkChild(one.deliver)
        yield* until(
          Effect.sync(() => waiting.length),
          (count) => count > 0
        )
        yield* Fiber.interrupt(killed)
        state.mood = "takes"
        assert.strictEqual(yield* other.deliver, 0, "the lease is not over")
        yield* leaseOver
        assert.strictEqual(yield* other.deliver, 1)
        assert.lengthOf(arrived, 1)
        assert.deepStrictEqual(yield* statesOf("killed-early"), ["sent"])
      }).pipe(Effect.scoped)
    )

    it.effect("is sent by nothing again where one is killed while it hands it over, and its fate is unknown", () =>
      Effect.gen(function* () {
        const { arrived, state, url } = yield* mailServer("smtps")
        const [one, other] = [yield* replica(url()), yield* replica(url())]
        yield* accounts(["killed-late"])
        yield* one.collect
        state.mood = "stalls"
        const killed = yield* Effect.forkChild(one.deliver)
        yield* until(
          Effect.sync(() => arrived.length),
          (count) => count > 0
        )
        yield* Fiber.interrupt(killed)
        state.mood = "takes"
        yield* other.prune
        assert.deepStrictEqual(yield* statesOf("killed-late"), ["sending"], "its time is not over")
        yield* leaseOver
        assert.strictEqual(yield* other.deliver, 0)
        yield* other.prune
        assert.deepStrictEqual(yield* statesOf("killed-late"), ["unknown"])
        assert.strictEqual(yield* other.deliver, 0)
        assert.lengthOf(arrived, 1)
      }).pipe(Effect.scoped)
    )

    it.effect("is left alone by one that was away for longer than its lease, whatever becomes of its own attempt", () =>
      Effect.gen(function* () {
        for (const fate of ["refused", "greeted"] as const) {
          const { arrived, state, url, waiting } = yield* mailServer("smtps")
          const [one, other] = [yield* replica(url()), yield* replica(url())]
          yield* accounts([`late-${fate}`])
          yield* one.collect
          state.mood = "greets no one"
          const slow = yield* Effect.forkChild(one.deliver)
          yield* until(
            Effect.sync(() => waiting.length),
            (count) => count > 0
          )
          state.mood = "takes"
          yield* leaseOver
          assert.strictEqual(yield* other.deliver, 1)
          for (const greet of waiting)
            greet(fate === "refused" ? Object.assign(new Error("busy"), { responseCode: 421 }) : undefined)
          yield* Fiber.join(slow)
          assert.deepStrictEqual(yield* statesOf(`late-${fate}`), ["sent"], fate)
          yield* leaseOver
          yield* Effect.all([one.deliver, other.deliver], { concurrency: 2 })
          assert.lengthOf(arrived, 1, fate)
        }
      }).pipe(Effect.scoped)
    )
  }
)
