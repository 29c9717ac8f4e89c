/** `/operators`: what those who run the platform see of it, and the two things they may do there. */
import { until } from "@catenet/testing/Eventually"
import { database } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { english } from "../../src/portal/texts/English.ts"
import { german } from "../../src/portal/texts/German.ts"

const olga = person("olga")
const bySubject: As = { session: "root-subject", email: null }
const eve = person("olgas")
const paths = ["/operators", "/operators/orders/1/resend", "/operators/limits"] as const

const world = Layer.unwrap(
  Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    const edge = yield* RecordingEdge
    return TestServer.replica({
      CT_OIDC_ISSUER: issuer,
      CT_CP_HOSTNAME_ZONE: "zone.example",
      CT_CP_EDGE_ADMIN_URL: edge.url,
      CT_CP_OUTBOX_TICK_SECS: "1",
      CT_CP_OPERATORS: "OLGA@people.example, root-subject"
    })
  })
).pipe(Layer.provideMerge(Layer.mergeAll(TestDatabase.layer, TestIssuer.layer, RecordingEdge.layer)))

const answered = (response: Response) =>
  Effect.map(
    Effect.promise(() => response.text()),
    (text) => ({ status: response.status, location: response.headers.get("location"), text })
  )
const open = (as: As, path: string, more: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(headersOf(as), (own) =>
    Effect.flatMap(TestServer.raw(path, { headers: { accept: "text/html", ...own, ...more } }), answered)
  )
const post = (as: As, path: string, form: Readonly<Record<string, string>> = {}, more: Record<string, string> = {}) =>
  Effect.flatMap(headersOf(as), (own) =>
    Effect.flatMap(
      TestServer.raw(path, {
        method: "POST",
        headers: { accept: "text/html", "content-type": "application/x-www-form-urlencoded", ...own, ...more },
        body: new URLSearchParams(form).toString()
      }),
      answered
    )
  )

layer(world, { excludeTestServices: true, timeout: "60 seconds" })("the operators' page", (it) => {
  it.effect("is for the accounts of the setting, by subject or verified address, and is not there for others", () =>
    Effect.gen(function* () {
      const nothing = yield* open(eve, "/portal/nothing")
      for (const as of [eve, { session: "x", email: null }, "anonymous"] as const)
        for (const path of paths) {
          const none = yield* open(as, "/portal/nothing")
          const page = yield* path === "/operators" ? open(as, path) : post(as, path, { subject: "x" })
          assert.deepStrictEqual([page.status, page.text], [404, none.text], path)
        }
      assert.notInclude(nothing.text, 'href="/operators"')
      for (const as of [olga, bySubject]) {
        const page = yield* open(as, "/operators")
        assert.strictEqual(page.status, 200)
        assert.include(page.text, english.operatorsTitle)
        const own = yield* open(as, "/portal/account")
        assert.include(own.text, 'href="/operators"')
        // Without a payment provider nobody can buy credits.
        assert.notInclude(own.text, "credits")
      }
      assert.include((yield* open(olga, "/operators", { "accept-language": "de" })).text, german.operatorsLead)
    })
  )

  it.effect("shows edges with their health, and an order that was refused until it is sent again", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const sql = yield* SqlClient.SqlClient
      assert.include((yield* open(olga, "/operators")).text, english.edgeHealth.healthy)
      const made = yield* ask(eve, "/me/tunnels", { name: "refused" })
      const id = String(made.body["id"])
      yield* edge.behave(400)
      yield* ask(eve, `/me/tunnels/${id}`, { require_login: true }, { method: "PATCH" })
      const refused = yield* until(
        sql<{ id: number }>`select id from outbox where refused_at is not null`,
        (rows) => rows.length > 0
      )
      const order = refused[0]?.id
      const page = yield* open(olga, "/operators")
      assert.include(page.text, "SetLogin")
      assert.include(page.text, id)
      assert.match(page.text, new RegExp(`action="/operators/orders/${order}/resend"`, "u"))
      const [row] = yield* sql<{ token: string }>`select queue as token from outbox where id = ${order ?? 0}`
      const token = row?.token ?? "none"
      assert.notInclude(page.text, token, "a routing token is a secret")
      assert.include((yield* open(olga, "/operators")).text, english.edgeHealth.silent)

      yield* edge.behave(200)
      assert.strictEqual((yield* post(olga, "/operators/orders/x/resend")).status, 404)
      const foreign = yield* post(olga, `/operators/orders/${order}/resend`, {}, { "sec-fetch-site": "same-site" })
      assert.strictEqual(foreign.status, 403)
      const twice = yield* Effect.all(
        [post(olga, `/operators/orders/${order}/resend`), post(olga, `/operators/orders/${order}/resend`)],
        { concurrency: 2 }
      )
      assert.deepStrictEqual(twice.map(({ status }) => status).toSorted(), [303, 404])
      yield* until(sql`select 1 from outbox`, (rows) => rows.length === 0)
      assert.isTrue((yield* edge.about(token, 1)).some(({ path }) => path.includes("login")))
      const entries = yield* sql<{ actor: string; target: string }>`
        select actor, target from audit_log where action = 'edge_order_resent'`
      assert.deepStrictEqual(entries, [{ actor: "olga", target: id }])
      const logged = yield* open(olga, "/operators")
      assert.include(logged.text, "edge_order_resent")
      assert.notMatch(logged.text, /orders\/\d+\/resend/u)
    }).pipe(Effect.provide(database))
  )

  it.effect("does not send an order again behind whose back a later one about the same was taken", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const sql = yield* SqlClient.SqlClient
      const made = yield* ask(eve, "/me/tunnels", { name: "later" })
      const path = `/me/tunnels/${String(made.body["id"])}`
      yield* until(sql`select 1 from outbox`, (rows) => rows.length === 0)
      // The first order is under way when the second is written; then the edge refuses the first.
      yield* edge.behave(400)
      yield* edge.think(400)
      const change = (required: boolean) =>
        Effect.forkChild(ask(eve, path, { require_login: required }, { method: "PATCH" }))
      yield* change(true)
      const under = yield* until(
        sql<{ id: number }>`select id from outbox where attempts > 0 and refused_at is null`,
        (rows) => rows.length > 0
      )
      yield* change(false)
      yield* until(sql`select 1 from outbox`, (rows) => rows.length > 1)
      yield* until(
        sql`select 1 from outbox where id = ${under[0]?.id ?? 0} and refused_at is null`,
        (rows) => rows.length === 0
      )
      assert.deepStrictEqual(yield* sql`select id from outbox where id = ${under[0]?.id ?? 0}`, [])
      yield* edge.think(0)
      yield* edge.behave(200)
    }).pipe(Effect.provide(database))
  )

  it.effect("sets the limit of an account before its first request, and says what does not fit", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const [form, field] of [
        [{ subject: "", what: "tunnels", max: "5" }, "subject"],
        [{ subject: "olgas", what: "tunnels", max: "-1" }, "max"],
        [{ subject: "olgas", what: "tunnels", max: "1000001" }, "max"],
        [{ subject: "olgas", what: "tunnels", max: "1.5" }, "max"],
        [{ subject: "olgas", what: "nothing", max: "5" }, "what"]
      ] as const) {
        const page = yield* post(olga, "/operators/limits", form)
        assert.strictEqual(page.status, 400, JSON.stringify(form))
        assert.match(page.text, new RegExp(`aria-describedby="[^"]*field-${field}-error"[^>]* autofocus`, "u"))
        assert.include(page.text, `value="${form.max}"`)
      }
      assert.deepStrictEqual(yield* sql`select subject from account_limits`, [])
      for (const max of ["0", "1000000"])
        assert.strictEqual(
          (yield* post(olga, "/operators/limits", { subject: "olgas", what: "tunnels", max })).status,
          303
        )
      for (const [what, max] of [
        ["channels", "7"],
        ["channels", "7"],
        ["ports", "3"],
        ["hosts", "2"],
        ["hosts", ""]
      ] as const)
        yield* post(olga, "/operators/limits", { subject: "olgas", what, max })
      const page = yield* open(olga, "/operators")
      assert.match(
        page.text,
        /data-label="Tunnels">1,000,000<[\s\S]*?data-label="Channels">7<[\s\S]*?data-label="Public ports">3<[\s\S]*?data-label="Own host names">1,000</u
      )
      const entries = yield* sql`
        select actor, action, detail from audit_log where target = 'olgas' and action like 'account_max%' order by id`
      assert.deepStrictEqual(entries, [
        { actor: "olga", action: "account_max_tunnels_set", detail: "0" },
        { actor: "olga", action: "account_max_tunnels_set", detail: "1000000" },
        { actor: "olga", action: "account_max_channels_set", detail: "7" },
        { actor: "olga", action: "account_max_ports_set", detail: "3" },
        { actor: "olga", action: "account_max_hosts_set", detail: "2" },
        { actor: "olga", action: "account_max_hosts_set", detail: "default" }
      ])
    }).pipe(Effect.provide(database))
  )
})
