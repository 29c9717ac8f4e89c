/** Rules that every page and every form of the portal keeps. One that is listed in `Addresses` is held by them. */
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import { invalidities } from "@catenet/testing/server/portal/HtmlValidity"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as GrantExpiries from "../../src/channels/GrantExpiries.ts"
import * as Addresses from "../../src/portal/Addresses.ts"
import { english } from "../../src/portal/texts/English.ts"
import { german } from "../../src/portal/texts/German.ts"
import { unixSeconds } from "../../src/runtime/UnixClock.ts"
import { faults } from "./PageFaults.ts"

/** Notices: counted in the rail, listed with what can be done, gone with their causes, and unseen by others. */
const zone = {
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_PAYMENT_WEBHOOK_SECRET: "secret",
  CT_CP_OPERATORS: "every-eve"
}
const nora = person("nora")
const bob = person("nora-bob")

const open = (as: As, path: string) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw(path, { headers: { accept: "text/html", ...(yield* headersOf(as)) } })
    const text = yield* Effect.promise(() => response.text())
    return { text, count: Number(/class="count"[^>]*>(\d+)</u.exec(text)?.[1] ?? 0) }
  })
const postForm = (as: As, path: string, form: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const headers = { "content-type": "application/x-www-form-urlencoded", ...(yield* headersOf(as)) }
    const body = new URLSearchParams(form).toString()
    const response = yield* TestServer.raw(path, { method: "POST", headers, body })
    return { status: response.status, location: response.headers.get("location") }
  })

const eve = person("every-eve")

const send = (as: As, path: string, init: RequestInit = {}) =>
  Effect.gen(function* () {
    const own = yield* headersOf(as)
    const response = yield* TestServer.raw(path, { ...init, headers: { accept: "text/html", ...own, ...init.headers } })
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, location: response.headers.get("location"), text, headers: response.headers }
  })

const post = (as: As, path: string, headers: Readonly<Record<string, string>> = {}) =>
  send(as, path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: "name=other&port=80&grantee=other&email=a%40b.example&ttl=1h&mode=off&webhook_url=https%3A%2F%2Fa.example&threshold_minutes=5"
  })

/** Values of the parameters of an address: what the account has, or what does not exist. */
const at = (path: string, values: Readonly<Record<string, string>>) =>
  path.replace(/:([a-z_]+)/gu, (_, name: string) => values[name] ?? "00".repeat(16))
const unknown = { id: "ab".repeat(16), channel: "cd".repeat(32), email: "x@y.example", grantee: "somebody" }

layer(server(zone), { excludeTestServices: true, timeout: "60 seconds" })((it) => {
  describe("notices", () => {
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
          yield* postForm("anonymous", "/gate/request-access", { host, email, note: `<b>${email}</b>` })
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
        const allowed = yield* postForm(nora, `${own}/login-allowlist`, { email: "vera@a.example", back: "notices" })
        assert.deepStrictEqual(allowed, { status: 303, location: "/portal/notices" })
        const dismiss = `${own}/access-requests/hans%40b.example/dismiss`
        assert.strictEqual((yield* postForm(bob, dismiss, { back: "notices" })).status, 404)
        assert.deepStrictEqual(yield* postForm(nora, dismiss, { back: "notices" }), {
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

  describe("every page of the portal", () => {
    it.effect("is whole in both languages, under a strict policy, and kept by no browser", () =>
      Effect.gen(function* () {
        const made = yield* ask(eve, "/me/tunnels", { name: "cam" })
        const channel = idOf("every page")
        yield* ask(account("every-eve"), "/me/channels", { channel, operator_pubkey: keyOf("every") })
        const minted = yield* ask(
          account("every-eve"),
          `/me/channels/${channel}/claim-invites`,
          materialOf(channel, "every")
        )
        yield* ask(account("every-eve"), `/me/channels/${channel}/allowlist`, { email: "every-eve@people.example" })
        yield* ask(eve, `/portal/channels/${channel}/claim`, materialOf(channel, "every"))
        const own = { id: String(made.body["id"]), channel }
        const queries = new Map([["/portal/claim", `?invite=${String(minted.body["invite"])}`]])
        const headers = yield* headersOf(eve)
        for (const path of [...Addresses.pages, ...Addresses.operatorPages])
          for (const texts of [english, german]) {
            const address = `${at(path, own)}${queries.get(path) ?? ""}`
            const page = yield* send("anonymous", address, {
              headers: { ...headers, "accept-language": texts.language }
            })
            const about = `${address} ${texts.language}`
            assert.strictEqual(page.status, 200, `${about}: ${page.text.slice(0, 300)}`)
            assert.deepStrictEqual(faults(page.text, texts), [], about)
            assert.deepStrictEqual(invalidities(page.text), [], about)
            assert.strictEqual(page.headers.get("cache-control"), "no-store", about)
            const [, main = ""] = page.text.split("<main")
            for (const [form] of main.matchAll(/<form\b[^>]* method="post"[\s\S]*?<\/form>/gu))
              assert.match(form, /<input type="hidden" name="once" value="[0-9a-f]{32}">/u, about)
            assert.match(
              page.headers.get("content-security-policy") ?? "",
              /^default-src 'none'; style-src 'self'; script-src 'self';/u
            )
            assert.notInclude(page.headers.get("content-security-policy") ?? "", "unsafe", about)
          }
      })
    )

    it.effect("leads to the sign-in without a session, and so does every form", () =>
      Effect.gen(function* () {
        for (const path of Addresses.pages) {
          const { location, status } = yield* send("anonymous", at(path, unknown))
          assert.strictEqual(status, 303, path)
          assert.match(location ?? "", /^\/portal(?:\?next=%2Fportal%2F|$)/u, path)
        }
        for (const path of Addresses.forms) {
          const { location, status } = yield* post("anonymous", at(path, unknown))
          assert.deepStrictEqual([status, location], [303, "/portal"], path)
        }
      })
    )

    it.effect("takes no form that another site sends", () =>
      Effect.gen(function* () {
        const made = yield* ask(eve, "/me/tunnels", { name: "target" })
        for (const path of [...Addresses.forms, ...Addresses.operatorForms])
          for (const site of ["same-site", "cross-site"]) {
            const answer = yield* post(eve, at(path, { ...unknown, id: String(made.body["id"]) }), {
              "sec-fetch-site": site
            })
            assert.strictEqual(answer.status, 403, `${path} ${site}`)
          }
        assert.deepInclude((yield* ask(eve, `/me/tunnels/${String(made.body["id"])}`)).body, { name: "target" })
      })
    )
  })
})
