/**
 * Share links: made, spent, ended and expired.
 * One file, since all cases share one server and one tunnel whose links they make.
 */
import { TunnelChange } from "@catenet/domain/tunnels/Tunnel"
import { Email } from "@catenet/domain/values/Email"
import { Hostname } from "@catenet/domain/values/Hostname"
import type { TunnelId } from "@catenet/domain/values/Ids"
import { database, ready } from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { account, server, tunnel, variables } from "./records/FactsServer.ts"

const zone = {
  CT_GATE_ACCESS_AUD: "gates",
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_OIDC_CLIENT_ID: "portal",
  CT_PORTAL_BASE_URL: "https://portal.zone.example"
}

const gated = (sub: string, host: string) => tunnel(sub, "cam", host, true)

const mint = (
  sub: string,
  id: TunnelId,
  options: { readonly ttl: "1h" | "24h" | "7d"; readonly single_use?: boolean }
) =>
  Effect.flatMap(account(sub), ({ tunnelControls }) =>
    tunnelControls.mintShareLink({ params: { id }, headers: {}, payload: options })
  )

/** Follows a link on this server. */
const follow = (url: string, init: RequestInit = {}) => {
  const { pathname, search } = new URL(url)
  return TestServer.raw(`${pathname}${search}`, init)
}

const sessionIn = (response: Response) =>
  /ct_gate_session=([^;]+)/.exec(response.headers.get("set-cookie") ?? "")?.[1] ?? ""

/** What the platform learns of a browser that a gate has sent to sign in. */
const browserIn = (response: Response) =>
  hash("sha256", /__Host-ct_gate_browser=([\w-]{43});/.exec(response.headers.get("set-cookie") ?? "")?.[1] ?? "")

const check = (host: string, headers: Readonly<Record<string, string>> = {}) =>
  TestServer.raw("/gate/check", { headers: { "x-forwarded-host": host, ...headers } })

const withCookie = (session: string) => ({ cookie: `other=1; ct_gate_session=${session}` })

layer(server(zone), { excludeTestServices: true, timeout: "60 seconds" })("share links", (it) => {
  it.effect("are forgotten after they ended, the oldest first, when there are more than are listed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* gated("tom", "many.zone.example")
      yield* mint("tom", id, { ttl: "1h" })
      const row = (n: string) =>
        `md5('l' || ${n}), '${id}', 'many.zone.example', null, false, md5('t' || ${n}) || md5('u' || ${n})`
      yield* sql.unsafe(`insert into share_links (id, tunnel_id, host, label, single_use, token_hash, created_at,
        expires_at, opened, revoked) select ${row("n")}, n, 4000000000, false, true from generate_series(1, 150) n`)
      yield* mint("tom", id, { ttl: "1h" })
      const kept = yield* sql<{ revoked: boolean; n: number; oldest: number }>`select revoked, count(*)::int as n,
        min(created_at)::int as oldest from share_links where tunnel_id = ${id} group by revoked order by revoked`
      assert.deepInclude(kept[0], { revoked: false, n: 2 })
      assert.deepStrictEqual({ ...kept[1] }, { revoked: true, n: 100, oldest: 51 })
    }).pipe(Effect.provide(database))
  )

  it.effect("of a wildcard lead to one name below it, and their session passes there alone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id, token } = yield* gated("wil", "wild.zone.example")
      for (const table of ["tunnels", "hosts"])
        yield* sql.unsafe(`update ${table} set hostname = '*.dev.example.net' where routing_token = '${token}'`)
      const { tunnelControls } = yield* account("wil")
      const asked = (host?: string) =>
        tunnelControls.mintShareLink({
          params: { id },
          headers: {},
          payload: { ttl: "1h", ...(host === undefined ? {} : { host: Hostname.make(host) }) }
        })
      for (const host of [undefined, "dev.example.net", "a.b.dev.example.net", "app.example.net"]) {
        const refused = yield* Effect.flip(asked(host))
        assert.strictEqual(refused._tag, "ShareLinkNeedsHost", host)
      }
      const link = yield* asked("app.dev.example.net")
      const other = yield* check("other.dev.example.net")
      assert.include(other.headers.get("location"), "/gate/start?host=other.dev.example.net")
      const passed = yield* follow(link.url)
      assert.strictEqual(passed.headers.get("location"), "https://app.dev.example.net/")
      const session = sessionIn(passed)
      assert.strictEqual((yield* check("app.dev.example.net", withCookie(session))).status, 200)
      assert.strictEqual((yield* check("other.dev.example.net", withCookie(session))).status, 302)
      assert.strictEqual((yield* check("a.app.dev.example.net")).status, 200, "no gate: two labels below")
      const { id: plain } = yield* gated("wil", "plain.zone.example")
      const wrong = yield* Effect.flip(
        tunnelControls.mintShareLink({
          params: { id: plain },
          headers: {},
          payload: { ttl: "1h", host: Hostname.make("wild.zone.example") }
        })
      )
      assert.strictEqual(wrong._tag, "ShareLinkNeedsHost")
    }).pipe(Effect.provide(database))
  )

  it.effect("let a visitor past the gate of their host until they are revoked", () =>
    Effect.gen(function* () {
      const { id } = yield* gated("ada", "cam.zone.example")
      yield* gated("ada", "other.zone.example")
      const link = yield* mint("ada", id, { ttl: "24h" })
      assert.match(link.url, /^https:\/\/portal\.zone\.example\/gate\/share\?host=cam\.zone\.example&token=[\w-]{43}$/)

      const anonymous = yield* check("cam.zone.example", { "x-forwarded-uri": "/a?b=c" })
      assert.strictEqual(anonymous.status, 302)
      assert.strictEqual(
        anonymous.headers.get("location"),
        `https://portal.zone.example/gate/start?host=cam.zone.example&return=%2Fa%3Fb%3Dc&browser=${browserIn(anonymous)}`
      )

      const seen = yield* follow(link.url, { method: "HEAD" })
      assert.strictEqual(seen.status, 204)
      const passed = yield* follow(`${link.url}&return=/photos?year=2026`)
      assert.strictEqual(passed.status, 303)
      assert.strictEqual(passed.headers.get("location"), "https://cam.zone.example/photos?year=2026")
      const cookie = passed.headers.get("set-cookie") ?? ""
      for (const part of ["Path=/", "HttpOnly", "Secure", "SameSite=Lax"]) assert.include(cookie, part)
      assert.notInclude(cookie, "Domain", "no other tenant's host is sent it")
      const age = Number(/Max-Age=(\d+)/.exec(cookie)?.[1])
      assert.approximately(age, 86_400, 20)

      const session = sessionIn(passed)
      const inside = yield* check("CAM.zone.example", withCookie(session))
      assert.strictEqual(inside.status, 200)
      assert.strictEqual(inside.headers.get("x-gate-email"), `share:${link.id}`)
      assert.strictEqual((yield* check("other.zone.example", withCookie(session))).status, 302, "one host only")

      const { tunnelControls } = yield* account("ada")
      const [listed] = yield* tunnelControls.listShareLinks({ params: { id }, query: {} })
      assert.deepInclude(listed, { id: link.id, state: "opened", single_use: false, label: null })
      yield* tunnelControls.revokeShareLink({ params: { id, link_id: link.id } })
      assert.strictEqual((yield* check("cam.zone.example", withCookie(session))).status, 302)
      assert.strictEqual((yield* follow(link.url)).status, 403)
      const twice = yield* Effect.flip(tunnelControls.revokeShareLink({ params: { id, link_id: link.id } }))
      assert.strictEqual(twice._tag, "ShareLinkNotFound")
    })
  )

  it.effect("of a single use have one user, on however many replicas they are followed at once", () =>
    Effect.gen(function* () {
      const { id } = yield* gated("bob", "bob.zone.example")
      const link = yield* mint("bob", id, { ttl: "1h", single_use: true })
      const built = yield* Layer.build(TestServer.replica({ ...variables, ...zone }))
      const there = Effect.provide(follow(link.url), built)
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? follow(link.url) : there)),
        { concurrency: "unbounded" }
      )
      const winners = answers.filter(({ status }) => status === 303)
      assert.strictEqual(winners.length, 1)
      assert.isTrue(answers.every(({ status }) => status === 303 || status === 403))
      const [winner] = winners
      assert(winner !== undefined)
      const inside = yield* check("bob.zone.example", withCookie(sessionIn(winner)))
      assert.strictEqual(inside.status, 200, "the session goes on after the link is used up")
      const refused = yield* follow(link.url)
      assert.strictEqual(refused.headers.get("content-type"), "text/html; charset=utf-8")
      assert.include(yield* Effect.promise(() => refused.text()), "<h1>Share link refused</h1>")
    }).pipe(Effect.scoped)
  )

  it.effect("of a single use are spent by the button of a page, and by nothing that looks at them", () =>
    Effect.gen(function* () {
      const { id } = yield* gated("pia", "pia.zone.example")
      const link = yield* mint("pia", id, { ttl: "1h", single_use: true })
      const address = `${link.url}&return=${encodeURIComponent('/a?b="c"')}`
      const looks: ReadonlyArray<Readonly<Record<string, string>>> = [
        { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" },
        { "sec-purpose": "prefetch" },
        { purpose: "prefetch" },
        { "user-agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)" },
        { "user-agent": "WhatsApp/2.23.20.0" },
        { "user-agent": "TelegramBot (like TwitterBot)" },
        { "user-agent": "facebookexternalhit/1.1" }
      ]
      for (const headers of [...looks, ...looks]) {
        const seen = yield* follow(address, { headers })
        assert.strictEqual(seen.status, 200, JSON.stringify(headers))
        assert.isNull(seen.headers.get("set-cookie"))
        assert.strictEqual(seen.headers.get("cache-control"), "no-store")
        assert.strictEqual(seen.headers.get("referrer-policy"), "no-referrer")
        const page = yield* Effect.promise(() => seen.text())
        assert.strictEqual(page.match(/<button\b/g)?.length, 1)
        assert.include(page, 'name="return" value="/a?b=&#34;c&#34;"')
      }
      const { tunnelControls } = yield* account("pia")
      const state = () =>
        Effect.map(tunnelControls.listShareLinks({ params: { id }, query: {} }), ([listed]) => listed?.state)
      assert.strictEqual(yield* state(), "active")

      const { searchParams } = new URL(address)
      const form = (changed: Readonly<Record<string, string>> = {}) =>
        TestServer.raw("/gate/share", {
          method: "POST",
          body: new URLSearchParams({ ...Object.fromEntries(searchParams), ...changed })
        })
      assert.strictEqual((yield* form({ token: "A".repeat(43) })).status, 403)
      assert.strictEqual((yield* form({ host: "unknown.zone.example" })).status, 404)
      assert.strictEqual((yield* TestServer.raw("/gate/share", { method: "POST", body: "{}" })).status, 415)
      assert.strictEqual(yield* state(), "active")

      const built = yield* Layer.build(TestServer.replica({ ...variables, ...zone }))
      const there = Effect.provide(form(), built)
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? form() : there)),
        { concurrency: "unbounded" }
      )
      const winners = answers.filter(({ status }) => status === 303)
      assert.lengthOf(winners, 1)
      assert.isTrue(answers.every(({ status }) => status === 303 || status === 403))
      const [winner] = winners
      assert(winner !== undefined)
      assert.strictEqual(winner.headers.get("location"), "https://pia.zone.example/a?b=%22c%22")
      assert.strictEqual((yield* check("pia.zone.example", withCookie(sessionIn(winner)))).status, 200)
      assert.strictEqual(yield* state(), "used")
      for (const headers of looks) assert.strictEqual((yield* follow(address, { headers })).status, 403)

      const many = yield* mint("pia", id, { ttl: "1h" })
      for (const headers of looks) assert.strictEqual((yield* follow(many.url, { headers })).status, 303)
    }).pipe(Effect.scoped)
  )

  it.effect("end with their time, and are worth nothing elsewhere or half", () =>
    Effect.gen(function* () {
      const { id } = yield* gated("cleo", "cleo.zone.example")
      yield* gated("cleo", "cleo-2.zone.example")
      yield* tunnel("cleo", "open", "open.zone.example")
      const link = yield* mint("cleo", id, { ttl: "7d" })
      const wrong = (change: (query: URLSearchParams) => void) => {
        const url = new URL(link.url)
        change(url.searchParams)
        return Effect.map(follow(url.href), ({ status }) => status)
      }
      assert.strictEqual(yield* wrong((query) => query.set("host", "cleo-2.zone.example")), 403)
      assert.strictEqual(yield* wrong((query) => query.set("token", "A".repeat(43))), 403)
      assert.strictEqual(yield* wrong((query) => query.set("token", "A".repeat(10_000))), 403)
      assert.strictEqual(yield* wrong((query) => query.delete("token")), 403)
      assert.strictEqual(yield* wrong((query) => query.set("host", "open.zone.example")), 404)
      assert.strictEqual(yield* wrong((query) => query.set("host", "unknown.zone.example")), 404)
      assert.strictEqual(yield* wrong((query) => query.delete("host")), 404)
      assert.strictEqual(yield* wrong((query) => query.set("host", "CLEO.zone.example")), 303)
      const away = yield* follow(`${link.url}&return=//evil.example/x`)
      assert.strictEqual(away.headers.get("location"), "https://cleo.zone.example/")
      const odd = yield* follow(`${link.url}&return=${encodeURIComponent("/grüße\u{1F600}")}`)
      assert.strictEqual(odd.headers.get("location"), "https://cleo.zone.example/gr%C3%BC%C3%9Fe%F0%9F%98%80")

      const session = sessionIn(away)
      assert.strictEqual((yield* check("cleo.zone.example", withCookie(session))).status, 200)
      yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`with l as (update share_links set expires_at = 1 where id = ${link.id})
          update gate_sessions set expires_at = 1 where share_link_id = ${link.id}`
      ).pipe(Effect.provide(Layer.fresh(database)))
      assert.strictEqual((yield* follow(link.url)).status, 403)
      assert.strictEqual((yield* check("cleo.zone.example", withCookie(session))).status, 302)
      const json = yield* follow(link.url, { headers: { accept: "application/json" } })
      assert.deepInclude(yield* Effect.promise(() => json.json()), { code: "ShareLinkRefused", status: 403 })
    })
  )

  it.effect("are at most fifty active ones a tunnel, however many are asked for at once", () =>
    Effect.gen(function* () {
      const { id } = yield* gated("dan", "dan.zone.example")
      const { tunnelControls } = yield* account("dan")
      const results = yield* Effect.all(
        Array.from({ length: 60 }, () => Effect.result(mint("dan", id, { ttl: "1h" }))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(results.filter((result) => result._tag === "Success").length, 50)
      const [link] = yield* tunnelControls.listShareLinks({ params: { id }, query: { limit: 1 } })
      assert(link !== undefined)
      yield* tunnelControls.revokeShareLink({ params: { id, link_id: link.id } })
      yield* mint("dan", id, { ttl: "1h" })
      assert.strictEqual((yield* Effect.flip(mint("dan", id, { ttl: "1h" })))._tag, "ShareLinkLimitReached")
    })
  )

  it.effect("are minted once for one key", () =>
    Effect.gen(function* () {
      const { id } = yield* gated("gus", "gus.zone.example")
      const { tunnelControls } = yield* account("gus")
      const headers = { "idempotency-key": "again" }
      const again = tunnelControls.mintShareLink({ params: { id }, headers, payload: { ttl: "1h" } })
      const made = yield* Effect.all(
        Array.from({ length: 6 }, () => again),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(made.map(({ url }) => url)).size, 1)
      assert.strictEqual((yield* tunnelControls.listShareLinks({ params: { id }, query: {} })).length, 1)
    })
  )

  it.effect("ask no gate where there is none, and let accounts pass by token that the owner lets in", () =>
    Effect.gen(function* () {
      const { id } = yield* gated("hal", "hal.zone.example")
      const { tunnels } = yield* account("hal")
      const bearer = (sub: string, aud: unknown) =>
        Effect.map(
          Effect.andThen(
            ready,
            TestIssuer.use(({ token }) => token({ sub, aud }))
          ),
          (token) => ({
            authorization: `Bearer ${token}`
          })
        )
      const passes = (sub: string, aud: unknown = "gates") =>
        Effect.flatMap(bearer(sub, aud), (headers) =>
          Effect.map(check("hal.zone.example", headers), ({ status }) => status)
        )
      assert.strictEqual(yield* passes("hal", "catenet"), 302, "a token for accounts opens no gate")
      const own = TestServer.raw("/me/tunnels", { headers: yield* bearer("hal", ["gates", "catenet"]) })
      assert.strictEqual((yield* own).status, 401, "a token for gates opens no account")
      assert.strictEqual(yield* passes("hal"), 200)
      assert.strictEqual(yield* passes("ivy@example.test"), 302)
      yield* tunnels.allowVisitor({ params: { id }, payload: { email: Schema.decodeSync(Email)("ivy@example.test") } })
      assert.strictEqual(yield* passes("ivy@example.test"), 200)
      assert.strictEqual(yield* passes("jon"), 302)
      yield* tunnels.change({ params: { id }, payload: new TunnelChange({ allow_any_login: true }) })
      assert.strictEqual(yield* passes("jon"), 200)
      assert.strictEqual((yield* check("hal.zone.example", { authorization: "Bearer nonsense" })).status, 302)
      yield* tunnels.change({ params: { id }, payload: new TunnelChange({ require_login: false }) })
      const open = yield* check("hal.zone.example", { "x-gate-email": "forged" })
      assert.deepStrictEqual([open.status, open.headers.get("x-gate-email")], [200, ""])
      assert.strictEqual((yield* TestServer.raw("/gate/check")).status, 400)
      assert.strictEqual((yield* TestServer.raw("/gate/share?host=%00&token=%00")).status, 404)
      assert.strictEqual((yield* TestServer.raw("/gate/check?host=hal.zone.example")).status, 200)
    })
  )

  it.effect("are asked for, however the visitor writes the host", () =>
    Effect.gen(function* () {
      yield* gated("uma", "uma.zone.example")
      const host = "uma.zone.example"
      const written = [
        `${host}:443`,
        `${host}:8443`,
        `${host}:`,
        `${host}.`,
        `${host}.:443`,
        "UMA.zone.example:443",
        `${host}:443, UMA.zone.example`
      ]
      for (const same of [...written, `${host}:443, ${host}`])
        assert.strictEqual((yield* check(same)).status, 302, same)
      for (const odd of [
        `${host}:443:443`,
        `${host}/`,
        `a@${host}`,
        `other.zone.example, ${host}`,
        `${host},`,
        "[::1]:443",
        ":443"
      ])
        assert.strictEqual((yield* check(odd)).status, 400, odd)
      assert.strictEqual((yield* TestServer.raw("/gate/check?host=%00")).status, 400)
      const both = (header: string, query: string) =>
        TestServer.raw(`/gate/check?host=${query}`, { headers: { "x-forwarded-host": header }, redirect: "manual" })
      assert.strictEqual((yield* both(host, `${host}:443`)).status, 302)
      assert.strictEqual((yield* both("other.zone.example", host)).status, 400)
    })
  )

  it.effect("lead nowhere without a domain for the cookie", () =>
    Effect.gen(function* () {
      const { id } = yield* gated("kim", "kim.zone.example")
      const link = yield* mint("kim", id, { ttl: "1h" })
      const bare = yield* Layer.build(TestServer.replica(variables))
      assert.strictEqual((yield* Effect.provide(follow(link.url), bare)).status, 503)
      assert.strictEqual((yield* Effect.provide(check("kim.zone.example"), bare)).status, 401)
    }).pipe(Effect.scoped)
  )
})
