import { TunnelChange } from "@catenet/domain/tunnels/Tunnel"
import { Email } from "@catenet/domain/values/Email"
import { database } from "@catenet/testing/server/Accounts"
import {
  account,
  type Address,
  browser,
  gated,
  isRefusedAsTooMany,
  portal,
  replica,
  server,
  text,
  triesOver
} from "@catenet/testing/server/gate/SignInServer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

const email = Schema.decodeSync(Email)

const startAt = (host: string, back = "/") => `/gate/start?${new URLSearchParams({ host, return: back }).toString()}`

/** The attributes of a cookie in an answer. */
const given = (response: Response, name: string) =>
  response.headers.getSetCookie().find((cookie) => cookie.startsWith(`${name}=`)) ?? ""

layer(server, { excludeTestServices: true, timeout: "90 seconds" })("visitors of a gated host", (it) => {
  it.effect(
    "sign in at the provider, are led back to where they were, and pass until they are taken off the list",
    () =>
      Effect.gen(function* () {
        const { id, tunnels } = yield* gated("cam.zone.example")
        yield* tunnels.allowVisitor({ params: { id }, payload: { email: email("Vera@example.test") } })
        const vera = browser()
        const asked = yield* vera.check("cam.zone.example", "/photos?year=2026")
        assert.strictEqual(asked.status, 302)
        // As a visitor of a host that begins here and not there.
        const begins = (asked.headers.get("location") ?? "").replace(/&browser=\w+/, "")
        vera.jars.platform.clear()
        const started = yield* vera.get(begins)
        assert.strictEqual(started.status, 303)
        const request = new URL(started.headers.get("location") ?? "").searchParams
        assert.deepInclude(Object.fromEntries(request), {
          response_type: "code",
          client_id: "portal",
          redirect_uri: `${portal}/gate/callback`,
          prompt: "login",
          ui_locales: "en",
          code_challenge_method: "S256"
        })
        for (const name of ["state", "nonce", "code_challenge"]) assert.match(request.get(name) ?? "", /^[\w-]{43}$/)
        const secret = given(started, "__Host-ct_gate_state")
        for (const part of ["Path=/;", "Max-Age=600", "HttpOnly", "Secure", "SameSite=Lax"])
          assert.include(secret, part)
        assert.notInclude(secret, "Domain=")
        assert.include(given(started, "ct_gate_target"), "Path=/gate;")
        assert.notInclude(started.headers.get("location") ?? "", vera.jars.platform.get("__Host-ct_gate_state") ?? "-")

        const back = yield* vera.signIn(begins, "vera@example.test")
        const entered = yield* vera.get(back)
        assert.strictEqual(entered.status, 303)
        assert.strictEqual(entered.headers.get("location"), "https://cam.zone.example/photos?year=2026")
        const session = given(entered, "ct_gate_session")
        for (const part of ["Path=/;", "Max-Age=28800", "HttpOnly", "Secure", "SameSite=Lax"]) {
          assert.include(`${session};`, part)
        }
        assert.notInclude(session, "Domain", "no other tenant's host is sent it")
        assert.deepStrictEqual(
          [...vera.jars.platform.keys()],
          ["ct_gate_session", "__Host-ct_gate_session"],
          "the sign-in is forgotten"
        )

        const inside = yield* vera.check("CAM.zone.example")
        assert.deepStrictEqual([inside.status, inside.headers.get("x-gate-email")], [200, "vera@example.test"])
        yield* tunnels.disallowVisitor({ params: { id, email: email("vera@example.test") } })
        assert.strictEqual((yield* vera.check("cam.zone.example")).status, 302)
        yield* tunnels.change({ params: { id }, payload: new TunnelChange({ allow_any_login: true }) })
        assert.strictEqual((yield* vera.check("cam.zone.example")).status, 200)
      })
  )

  it.effect("finish a sign-in once, in the browser that began it, on however many replicas", () =>
    Effect.gen(function* () {
      yield* gated("once.zone.example")
      const olga = browser()
      const back = yield* olga.signIn(startAt("once.zone.example"), "olga@example.test")
      const stranger = yield* browser().get(back)
      assert.strictEqual(stranger.status, 403, "another browser")
      const cookie = Array.from(olga.jars.platform, ([name, value]) => `${name}=${value}`).join("; ")
      const there = yield* replica()
      const { pathname, search } = new URL(back)
      const once = TestServer.raw(`${pathname}${search}`, { headers: { cookie } })
      const answers = yield* Effect.all(
        Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? once : there(once))),
        { concurrency: "unbounded" }
      )
      const statuses = answers.map(({ status }) => status)
      assert.deepStrictEqual(statuses.toSorted(), [303, ...Array.from({ length: 11 }, () => 403)])
      const refused = yield* once
      assert.strictEqual(refused.headers.get("content-type"), "text/html; charset=utf-8")
      assert.include(yield* text(refused), 'href="/gate/start?host=once.zone.example&#38;return=%2F"')
    }).pipe(Effect.scoped)
  )

  it.effect("have a cookie for each host, and signing out ends what the sign-in gave", () =>
    Effect.gen(function* () {
      yield* gated("one.zone.example")
      yield* gated("two.zone.example")
      const olga = browser()
      assert.strictEqual(
        (yield* olga.get(yield* olga.signIn(startAt("one.zone.example"), "olga@example.test"))).status,
        303
      )
      const session = olga.jars.platform.get("ct_gate_session") ?? ""
      assert.strictEqual((yield* olga.check("one.zone.example")).status, 200)
      assert.strictEqual((yield* olga.check("two.zone.example")).status, 302, "one cookie, one host")
      const out = yield* olga.get("/gate/logout?host=one.zone.example&return=/bye")
      assert.deepStrictEqual(
        [out.status, out.headers.get("location")],
        [303, "https://one.zone.example/.catenet/gate/logout?return=%2Fbye"]
      )
      assert.isFalse(olga.jars.platform.has("ct_gate_session"))
      olga.jars.platform.set("ct_gate_session", session)
      assert.strictEqual((yield* olga.check("one.zone.example")).status, 302, "a copied cookie is worth nothing")
    })
  )

  it.effect("have a session that no sibling host can give their browser, and programs the one of the contract", () =>
    Effect.gen(function* () {
      yield* gated("own.zone.example")
      const sessionOf = Effect.gen(function* () {
        const olga = browser()
        yield* olga.get(yield* olga.signIn(startAt("own.zone.example"), "olga@example.test"))
        return olga.jars.platform.get("__Host-ct_gate_session") ?? assert.fail("no session")
      })
      const planted = yield* sessionOf
      const own = yield* sessionOf
      const check = (cookie: string, more: Readonly<Record<string, string>> = { "sec-fetch-site": "none" }) =>
        Effect.map(
          TestServer.raw("/gate/check", {
            redirect: "manual",
            headers: { "x-forwarded-host": "own.zone.example", cookie, ...more }
          }),
          ({ status }) => status
        )
      assert.strictEqual(yield* check(`ct_gate_session=${planted}`), 302)
      assert.strictEqual(yield* check(`ct_gate_session=${planted}`, {}), 200)
      assert.strictEqual(yield* check(`__Host-ct_gate_session=${own}`), 200)
      assert.strictEqual(yield* check(`__Host-ct_gate_session=${own}.mac`), 200, "with the MAC of an edge")
      // What a sibling planted beside it is nothing: the own session is the one that ends.
      const cookie = `ct_gate_session=${planted}; __Host-ct_gate_session=${own}`
      yield* TestServer.raw("/gate/logout?host=own.zone.example", { redirect: "manual", headers: { cookie } })
      assert.strictEqual(yield* check(cookie, {}), 302)
      assert.strictEqual(yield* check(`__Host-ct_gate_session=${planted}`), 200)
    })
  )

  it.effect("get in only as themselves: on the list by a verified address, by any login, or as the owner", () =>
    Effect.gen(function* () {
      const { id, tunnels } = yield* gated("list.zone.example")
      yield* tunnels.allowVisitor({ params: { id }, payload: { email: email("una@unverified.test") } })
      const enter = (person: Address) =>
        Effect.gen(function* () {
          const self = browser()
          const answer = yield* self.get(yield* self.signIn(startAt("list.zone.example", "/x"), person))
          const inside = yield* self.check("list.zone.example")
          return { answer, status: answer.status, name: inside.headers.get("x-gate-email"), self }
        })
      const eve = yield* enter("eve@example.test")
      assert.strictEqual(eve.status, 403)
      const page = yield* text(eve.answer)
      assert.include(page, 'href="/gate/request-access?host=list.zone.example"')
      assert.include(page, "return=%2Fx")
      assert.strictEqual((yield* enter("una@unverified.test")).status, 403, "anybody can claim an address")
      assert.deepInclude(yield* enter("olga@example.test"), { status: 303, name: "olga@example.test" })
      yield* tunnels.change({ params: { id }, payload: new TunnelChange({ allow_any_login: true }) })
      assert.deepInclude(yield* enter("eve@example.test"), { status: 303, name: "eve@example.test" })
      assert.deepInclude(yield* enter("ζωή@example.test"), { status: 303, name: "%CE%B6%CF%89%CE%AE@example.test" })
      const una = yield* enter("una@unverified.test")
      assert.strictEqual(una.status, 303)
      assert.match(una.name ?? "", /^[0-9a-f-]{36}$/, "an account without a verified address is its subject")
      // An account whose subject is spelled as an address on the list is nobody of the list.
      yield* tunnels.change({ params: { id }, payload: new TunnelChange({ allow_any_login: false }) })
      yield* Effect.provide(
        SqlClient.SqlClient.use(
          (sql) => sql`update gate_sessions set subject = 'una@unverified.test'
            where host = 'list.zone.example' and email is null`
        ),
        database
      )
      assert.strictEqual((yield* una.self.check("list.zone.example")).status, 302)
    })
  )

  it.effect("are led nowhere else, whatever they ask for", () =>
    Effect.gen(function* () {
      yield* gated("stay.zone.example")
      const { tunnels } = yield* account("olga@example.test")
      const [{ id } = { id: undefined }] = yield* tunnels.list({ query: {} })
      assert(id !== undefined)
      const visitor = browser()
      for (const host of ["evil.example", "portal.zone.example", "stay.zone.example.evil.example", "%00", ""]) {
        assert.strictEqual((yield* visitor.get(`/gate/start?host=${host}&return=/`)).status, 404, host)
        const out = yield* visitor.get(`/gate/logout?host=${host}&return=//evil.example`)
        assert.strictEqual(out.headers.get("location"), `${portal}/`, host)
      }
      for (const back of ["//evil.example", "/\\evil.example", "https://evil.example/", "@evil.example", "/a\r\nb:c"]) {
        const olga = browser()
        const entered = yield* olga.get(yield* olga.signIn(startAt("stay.zone.example", back), "olga@example.test"))
        assert.strictEqual(entered.headers.get("location"), "https://stay.zone.example/", back)
      }
    })
  )

  it.effect("are refused with a page that says why", () =>
    Effect.gen(function* () {
      const { id, tunnels } = yield* gated("no.zone.example")
      const olga = browser()
      const back = new URL(yield* olga.signIn(startAt("no.zone.example"), "olga@example.test"))
      const asked = (change: Readonly<Record<string, string>>) => {
        const query = new URLSearchParams({ ...Object.fromEntries(back.searchParams), ...change })
        return olga.get(`${back.pathname}?${query.toString()}`)
      }
      assert.strictEqual((yield* asked({ code: "" })).status, 400)
      const cancelled = yield* olga.get("/gate/callback?error=access_denied&error_description=evil&state=x")
      assert.strictEqual(cancelled.status, 403)
      const page = yield* text(cancelled)
      assert.include(page, "Sign-in cancelled")
      assert.include(page, ">Try again</a>")
      assert.notInclude(page, "evil")
      assert.strictEqual((yield* olga.get("/gate/callback?error=server_error&state=x")).status, 502)
      const forged = yield* asked({ state: "A".repeat(43) })
      assert.strictEqual(forged.status, 403)
      assert.include(yield* text(forged), ">Try again</a>")
      assert.strictEqual((yield* asked({ code: "nonsense" })).status, 502)
      assert.strictEqual((yield* asked({})).status, 403, "the sign-in was spent on the failure")
      const problem = yield* olga.get("/gate/start?host=unknown.zone.example", { accept: "application/json" })
      assert.strictEqual(problem.headers.get("content-type"), "application/problem+json")

      // A code that was given for another sign-in: its challenge and nonce are not this one's.
      const first = browser()
      const second = browser()
      const one = new URL(yield* first.signIn(startAt("no.zone.example"), "olga@example.test"))
      const two = new URL(yield* second.signIn(startAt("no.zone.example"), "eve@example.test"))
      two.searchParams.set("code", one.searchParams.get("code") ?? "")
      assert.strictEqual((yield* second.get(two.href)).status, 502)

      const late = browser()
      const tooLate = yield* late.signIn(startAt("no.zone.example"), "olga@example.test")
      yield* Effect.provide(
        SqlClient.SqlClient.use((sql) => sql`update gate_sign_ins set expires_at = 1`),
        database
      )
      assert.strictEqual((yield* late.get(tooLate)).status, 403)

      const gone = browser()
      const without = yield* gone.signIn(startAt("no.zone.example"), "olga@example.test")
      yield* tunnels.change({ params: { id }, payload: new TunnelChange({ require_login: false }) })
      assert.strictEqual((yield* gone.get(without)).status, 404)
    })
  )

  it.effect("are refused when the gate is not configured, and when there are too many", () =>
    Effect.gen(function* () {
      yield* gated("few.zone.example")
      const visitor = browser()
      const bare = yield* replica({ CT_OIDC_CLIENT_ID: "" })
      for (const path of [startAt("few.zone.example"), "/gate/callback?code=a&state=b"]) {
        assert.strictEqual((yield* bare(visitor.get(path))).status, 503)
      }
      assert.strictEqual((yield* bare(visitor.check("few.zone.example"))).status, 401)
      const open = yield* replica({ CT_GATE_COOKIE_DOMAIN: "" })
      assert.strictEqual((yield* open(visitor.get("/gate/logout"))).status, 503)
      const strict = yield* replica({ CT_CP_UNAUTH_WRITE_PER_MIN: "2" })
      const tries = Effect.forEach(triesOver(2), () => strict(visitor.get(startAt("few.zone.example"))))
      assert.isTrue(isRefusedAsTooMany(yield* tries))
    }).pipe(Effect.scoped)
  )
})
