/** Two browsers at two replicas reach for one thing at once: one has it, the other reads why not, and nothing is left half done. */
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { hashToken } from "../../src/runtime/TokenSecrets.ts"
import { type Answered, personAt } from "./PersonAtForms.ts"

const variables = { CT_CP_HOSTNAME_ZONE: "zone.example", CT_GATE_COOKIE_DOMAIN: "zone.example" }

/** Sends each request at once, in turn to the one replica and to the other. */
const race = <A, E, R>(requests: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    const other = yield* Layer.build(TestServer.replica({ ...variables, CT_OIDC_ISSUER: issuer }))
    const there = Effect.provideService(HttpServer.HttpServer, Context.get(other, HttpServer.HttpServer))
    return yield* Effect.all(
      requests.map((request, n) => (n % 2 === 0 ? request : there(request))),
      { concurrency: "unbounded" }
    )
  })
const statuses = (answers: ReadonlyArray<Pick<Answered, "status">>) => answers.map(({ status }) => status).toSorted()
const rows = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Record<string, unknown>>(statement))

layer(server(variables), { excludeTestServices: true, timeout: "60 seconds" })("two browsers at once", (it) => {
  it.effect("claim one key of a channel: one account is its member, the other is refused", () =>
    Effect.gen(function* () {
      const channel = idOf("two claim")
      yield* ask(account("two-op"), "/me/channels", { channel, operator_pubkey: keyOf("op") })
      const [one, other] = ["two-ann", "two-ben"]
      for (const name of [one, other])
        yield* ask(account("two-op"), `/me/channels/${channel}/allowlist`, { email: `${name}@people.example` })
      const [ann, ben] = [yield* personAt(person(one)), yield* personAt(person(other))]
      const claim = (who: typeof ann) =>
        who.post(`/portal/channels/${channel}/claim-form`, materialOf(channel, "the key"))
      const answers = yield* race([ann, ben, ann, ben, ann, ben].map(claim))
      const claimed = answers.filter(({ text }) => text.includes("<h1>Claimed"))
      assert.lengthOf(claimed, 3, "all of one account")
      const found = yield* rows(`select subject from channel_claims where channel = '${channel}'`)
      assert.lengthOf(found, 1)
      const winner = found[0]?.["subject"]
      for (const [n, { text }] of answers.entries())
        assert.strictEqual(text.includes("<h1>Claimed"), (n % 2 === 0 ? one : other) === winner)
    }).pipe(Effect.provide(database), Effect.scoped)
  )

  it.effect("press the button of a mail: it is switched off once, and the other reads that it was used", () =>
    Effect.gen(function* () {
      const token = "7e".repeat(32)
      const hash = hashToken(Redacted.make(token))
      yield* rows("insert into mail_accounts (subject, wanted, language, due_at) values ('two-mia', true, 'en', 0)")
      // An old one may be pruned meanwhile.
      yield* rows(`insert into notice_mails (id, subject, state, created_at, due_at, unsubscribe_hash)
        values ('${"ab".repeat(16)}', 'two-mia', 'sent', extract(epoch from now())::bigint, 1, '${hash}')`)
      const click = Effect.flatMap(personAt("anonymous"), ({ post }) =>
        post(`/portal/unsubscribe?token=${token}`, { "List-Unsubscribe": "One-Click" })
      )
      const answers = yield* race(Array.from({ length: 8 }, () => click))
      assert.deepStrictEqual(statuses(answers), [200, ...Array.from({ length: 7 }, () => 410)])
      assert.deepStrictEqual(yield* rows("select wanted from mail_accounts where subject = 'two-mia'"), [
        { wanted: false }
      ])
    }).pipe(Effect.provide(database), Effect.scoped)
  )

  it.effect("end each other's sessions: at most one is left, and each is led on", () =>
    Effect.gen(function* () {
      const own = yield* Effect.all(Array.from({ length: 4 }, () => personAt(person("two-sam"))))
      const answers = yield* race(own.map(({ post }) => post("/portal/account/sessions/end-others", {})))
      for (const { location, status } of answers)
        assert.deepStrictEqual([status, location === "/portal/account" || location === "/portal"], [303, true])
      assert.isAtMost((yield* rows("select 1 from portal_sessions where subject = 'two-sam'")).length, 1)
    }).pipe(Effect.provide(database), Effect.scoped)
  )

  it.effect("delete the account while forms are sent: nothing fails, and a second deletion leaves nothing", () =>
    Effect.gen(function* () {
      const kim = person("two-kim")
      const [one, other] = [yield* personAt(kim), yield* personAt(kim)]
      for (const name of ["a", "b"]) yield* one.post("/portal/tunnels", { name })
      const end = { confirm: "DELETE" }
      const answers = yield* race([
        one.post("/portal/account/delete", end),
        other.post("/portal/account/delete", end),
        one.post("/portal/tunnels", { name: "c" }),
        other.post("/portal/channels", { operator_pubkey: keyOf("two op") }),
        one.post("/portal/topologies", {}),
        other.post("/portal/rooms", { operator_pubkey: keyOf("two op"), holders: `${keyOf("x")} ${keyOf("y")}` }),
        one.post("/portal/account/credits", { credits: "5" })
      ])
      for (const { status, text } of answers) assert.include([200, 303], status, text.slice(0, 500))
      // A form that was read before the deletion may count after it: as one of an account that begins anew.
      const last = yield* personAt(kim)
      assert.strictEqual((yield* last.post("/portal/account/delete", end)).status, 200)
      for (const [table, column] of [
        ["tunnels", "subject"],
        ["channels", "owner"],
        ["topologies", "owner"],
        ["portal_sessions", "subject"],
        ["mail_accounts", "subject"],
        ["bootstrap_tokens", "minted_by"]
      ])
        assert.deepStrictEqual(yield* rows(`select 1 from ${table} where ${column} = 'two-kim'`), [], table)
      const orphans =
        "select 1 from hosts h where not exists (select 1 from tunnels t where t.routing_token = h.routing_token)"
      assert.deepStrictEqual(yield* rows(orphans), [])
    }).pipe(Effect.provide(database), Effect.scoped)
  )
})
