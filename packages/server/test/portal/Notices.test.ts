/** Notices: counted in the rail, listed with what can be done, gone with their causes, and unseen by others. */
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf, grantBy } from "@catenet/testing/server/channels/ChannelsKeys"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as GrantExpiries from "../../src/channels/GrantExpiries.ts"
import { english } from "../../src/portal/texts/English.ts"
import { unixSeconds } from "../../src/runtime/UnixClock.ts"

const zone = { CT_CP_HOSTNAME_ZONE: "zone.example", CT_GATE_COOKIE_DOMAIN: "zone.example" }
const nora = person("nora")
const bob = person("nora-bob")

const open = (as: As, path: string) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw(path, { headers: { accept: "text/html", ...(yield* headersOf(as)) } })
    const text = yield* Effect.promise(() => response.text())
    return { text, count: Number(/class="count"[^>]*>(\d+)</u.exec(text)?.[1] ?? 0) }
  })
const post = (as: As, path: string, form: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const headers = { "content-type": "application/x-www-form-urlencoded", ...(yield* headersOf(as)) }
    const body = new URLSearchParams(form).toString()
    const response = yield* TestServer.raw(path, { method: "POST", headers, body })
    return { status: response.status, location: response.headers.get("location") }
  })

layer(server(zone), { excludeTestServices: true, timeout: "60 seconds" })("notices", (it) => {
  it.effect("are there as long as their cause, for whom they concern", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const made = yield* ask(nora, "/me/tunnels", { name: "photos" })
      const id = String(made.body["id"])
      const host = String(made.body["hostname"])
      yield* ask(nora, `/me/tunnels/${id}`, { require_login: true }, { method: "PATCH" })
      const none = yield* open(nora, "/portal/notices")
      assert.include(none.text, english.noticesNone)
      assert.strictEqual(none.count, 0)

      for (const email of ["vera@a.example", "hans@b.example"])
        yield* post("anonymous", "/gate/request-access", { host, email, note: `<b>${email}</b>` })
      const channel = idOf("notices")
      yield* ask(account("nora"), "/me/channels", { channel, operator_pubkey: keyOf("nora") })
      yield* ask(account("nora"), `/me/channels/${channel}/members`, materialOf(channel, "nora"))
      const ends = (yield* unixSeconds) + 3 * 86_400
      const grant = grantBy("nora", channel, "nora", BigInt(ends))
      yield* ask(account("nora"), `/me/channels/${channel}/grants/${keyOf("nora")}`, { grant })
      const theirs = idOf("notices of bob")
      yield* ask(account("nora-bob"), "/me/channels", { channel: theirs, operator_pubkey: keyOf("bob") })
      yield* ask(account("nora-bob"), `/me/channels/${theirs}/allowlist`, { email: "nora@people.example" })
      yield* sql`update hosts set claim = 'lapsed', queued_at = null, retry_at = 4102444800, lapses = 1 where hostname = ${host}`
      yield* ask(
        nora,
        `/me/tunnels/${id}/alert`,
        { webhook_url: "https://a.example/", threshold_minutes: 5 },
        { method: "PUT" }
      )
      yield* sql`update alerts set state = 'down', last_seen_up = null where tunnel_id = ${id}`

      yield* sql`insert into issuance_failures (hostname, ca, reason, detail, at, retry_at)
        values (${host}, 'older', 'caa', null, 1, 4102444800), (${host}, 'newer', 'caa', 'CAA <i>forbids</i> it', 2, 4102444800)`

      const page = yield* open(nora, "/portal/notices")
      assert.strictEqual(page.count, 7, page.text)
      assert.notInclude(page.text, english.noticeIssuance("older"))
      for (const text of [
        english.noticeAccess("vera@a.example"),
        "&#60;b&#62;vera@a.example&#60;/b&#62;",
        english.noticeGrant(channel.slice(0, 8), keyOf("nora").slice(0, 8)),
        `/portal/channels/${theirs}/claim`,
        english.noticeCertificate,
        english.noticeIssuance("newer"),
        "CAA &#60;i&#62;forbids&#60;/i&#62; it",
        english.noticeDown
      ])
        assert.include(page.text, text)
      assert.strictEqual((yield* open(nora, "/portal/account")).count, 7, "on every page")

      yield* sql`delete from issuance_failures where hostname = ${host}`
      // A grant from before its end was written beside it is read by and by.
      yield* sql`update channel_grants set expires_at = null`
      assert.strictEqual((yield* open(nora, "/portal/notices")).count, 5)
      const readSome = yield* GrantExpiries.make.pipe(Effect.provide(TestServer.sealing))
      assert.deepStrictEqual([yield* readSome, yield* readSome], [1, 0])
      assert.strictEqual((yield* open(nora, "/portal/notices")).count, 6)
      assert.strictEqual((yield* open(bob, "/portal/notices")).count, 0)

      const own = `/portal/tunnels/${id}`
      const allowed = yield* post(nora, `${own}/login-allowlist`, { email: "vera@a.example", back: "notices" })
      assert.deepStrictEqual(allowed, { status: 303, location: "/portal/notices" })
      const dismiss = `${own}/access-requests/hans%40b.example/dismiss`
      assert.strictEqual((yield* post(bob, dismiss, { back: "notices" })).status, 404)
      assert.deepStrictEqual(yield* post(nora, dismiss, { back: "notices" }), {
        status: 303,
        location: "/portal/notices"
      })
      yield* sql`update alerts set state = 'unknown' where tunnel_id = ${id}`
      yield* sql`update hosts set claim = 'queued', queued_at = 1, retry_at = null where hostname = ${host}`
      yield* ask(account("nora-bob"), `/me/channels/${theirs}/allowlist/nora@people.example/remove`, {})
      const later = grantBy("nora", channel, "nora", BigInt(ends + 30 * 86_400))
      yield* ask(account("nora"), `/me/channels/${channel}/grants/${keyOf("nora")}`, { grant: later })
      const left = yield* open(nora, "/portal/notices")
      assert.strictEqual(left.count, 0, left.text)
    }).pipe(Effect.provide(database))
  )
})
