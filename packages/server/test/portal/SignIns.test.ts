import {
  browser,
  isRefusedAsTooMany,
  portal,
  replica,
  server,
  text,
  triesOver
} from "@catenet/testing/server/gate/SignInServer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect } from "effect"
import { home, nextPath } from "../../src/portal/PortalSignIns.ts"

const session = "__Host-ct_portal_session"

describe("where somebody goes after signing in", () => {
  plain("is a page of the portal, or its home page", () => {
    for (const path of [
      "/portal",
      "/portal/",
      "/portal/claim?invite=a_b-c",
      "/portal/tunnels#x",
      "/portal?a=/portal/../b"
    ])
      assert.strictEqual(nextPath(path), path)
    const elsewhere = [
      null,
      "",
      "/",
      "/portalx",
      "/Portal/home",
      "//portal/home",
      "/\\portal",
      "/portal\\..\\x",
      "/portal/../me/tunnels",
      "/portal/%2e%2e/me",
      "/portal/\n",
      "https://evil.example/portal",
      `/portal/${"x".repeat(512)}`
    ]
    for (const path of elsewhere) assert.strictEqual(nextPath(path), home, String(path))
  })
})

layer(server, { excludeTestServices: true, timeout: "90 seconds" })("people at the portal", (it) => {
  it.effect("sign in at the provider, are who they are on the API, and sign out everywhere", () =>
    Effect.gen(function* () {
      const vera = browser()
      const begun = yield* vera.get("/portal/login?login_hint=vera@example.test&kc_idp_hint=github&next=/portal/usage")
      const request = new URL(begun.headers.get("location") ?? "").searchParams
      assert.deepInclude(Object.fromEntries(request), {
        response_type: "code",
        scope: "openid email",
        redirect_uri: `${portal}/portal/callback`,
        login_hint: "vera@example.test",
        kc_idp_hint: "github",
        code_challenge_method: "S256"
      })
      assert.isFalse(request.has("prompt"))
      const back = yield* vera.signIn("/portal?next=/portal/usage?days=7", "vera@example.test")
      const entered = yield* vera.get(back)
      assert.strictEqual(entered.status, 303)
      assert.strictEqual(entered.headers.get("location"), "/portal/usage?days=7")
      const given = entered.headers.getSetCookie().find((cookie) => cookie.startsWith(session)) ?? ""
      for (const part of ["Path=/;", "Max-Age=36000", "HttpOnly", "Secure", "SameSite=Lax"]) assert.include(given, part)
      assert.notInclude(given, "Domain=")
      assert.deepStrictEqual([...vera.jars.platform.keys()], [session])

      assert.strictEqual((yield* vera.get("/me/tunnels")).status, 200)
      const token = vera.jars.platform.get(session) ?? ""
      const asked = yield* vera.get("/portal/logout")
      assert.strictEqual(asked.status, 200, "a link ends no session")
      assert.match(yield* text(asked), /<form class="panel pad" method="post" action="\/portal\/logout">/)
      assert.strictEqual((yield* vera.get("/portal")).headers.get("location"), "/portal/tunnels")
      assert.strictEqual((yield* vera.get("/portal?next=/portal/account")).headers.get("location"), "/portal/account")
      const signOut = (site: string) =>
        TestServer.raw("/portal/logout", {
          method: "POST",
          headers: { cookie: `${session}=${token}`, "sec-fetch-site": site }
        })
      assert.strictEqual((yield* signOut("same-site")).status, 403)
      assert.strictEqual((yield* vera.get("/me/tunnels")).status, 200)
      const out = yield* signOut("same-origin")
      assert.strictEqual(out.status, 303)
      const end = new URL(out.headers.get("location") ?? "")
      assert.match(end.pathname, /\/protocol\/openid-connect\/logout$/)
      assert.strictEqual(end.searchParams.get("post_logout_redirect_uri"), `${portal}/portal`)
      assert.isAbove((end.searchParams.get("id_token_hint") ?? "").length, 100)
      assert.match(out.headers.getSetCookie().join(), /^__Host-ct_portal_session=;/u)
      assert.strictEqual((yield* vera.get("/me/tunnels")).status, 401, "a copied cookie is worth nothing")
      const ended = yield* TestServer.raw("/portal", { headers: { cookie: `${session}=${token}` }, redirect: "manual" })
      assert.strictEqual(
        new URL(ended.headers.get("location") ?? "").searchParams.get("prompt"),
        "login",
        "whose session has ended proves again who it is"
      )
      const twice = yield* vera.get("/portal/logout")
      assert.strictEqual(twice.headers.get("location"), "/")
    })
  )

  it.effect("keep their language at the provider, and when they sign out", () =>
    Effect.gen(function* () {
      for (const [chosen, accepted, language] of [
        ["de", "en", "de"],
        ["en", "de", "en"],
        [undefined, "fr, de-AT;q=0.8, en;q=0.7", "de"],
        [undefined, "fr", "en"]
      ] as const) {
        const cookie = chosen === undefined ? "" : `__Host-ct_language=${chosen}`
        const asked = yield* TestServer.raw("/portal/login", { headers: { cookie, "accept-language": accepted } })
        assert.strictEqual(new URL(asked.headers.get("location") ?? "").searchParams.get("ui_locales"), language)
        const una = browser()
        yield* una.get(yield* una.signIn("/portal", "una@unverified.test"))
        const out = yield* TestServer.raw("/portal/logout", {
          method: "POST",
          headers: {
            cookie: `${session}=${una.jars.platform.get(session) ?? ""}; ${cookie}`,
            "accept-language": accepted
          }
        })
        assert.strictEqual(new URL(out.headers.get("location") ?? "").searchParams.get("ui_locales"), language)
        assert.notInclude(out.headers.getSetCookie().join(), "ct_language")
      }
    })
  )

  it.effect("open the form for new people, and name no provider that there is not", () =>
    Effect.gen(function* () {
      const answer = yield* browser().get("/portal/login?register=1&kc_idp_hint=evil")
      const url = new URL(answer.headers.get("location") ?? "")
      assert.match(url.pathname, /\/protocol\/openid-connect\/registrations$/)
      assert.isFalse(url.searchParams.has("kc_idp_hint"))
      const eve = browser()
      const registered = yield* eve.get(yield* eve.signIn("/portal/login?register=1", "eve@example.test"))
      assert.strictEqual(registered.headers.get("location"), home)
    })
  )

  it.effect("finish a sign-in once, in the browser that began it, on however many replicas", () =>
    Effect.gen(function* () {
      const vera = browser()
      const back = yield* vera.signIn("/portal/login", "vera@example.test")
      assert.strictEqual((yield* browser().get(back)).status, 403)
      const there = yield* replica()
      const { pathname, search } = new URL(back)
      const cookie = Array.from(vera.jars.platform, ([name, value]) => `${name}=${value}`).join("; ")
      const once = TestServer.raw(`${pathname}${search}`, { headers: { cookie } })
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? once : there(once))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [
        303,
        ...Array.from({ length: 7 }, () => 403)
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("are refused with a page that says why", () =>
    Effect.gen(function* () {
      const vera = browser()
      const back = new URL(yield* vera.signIn("/portal/login", "vera@example.test"))
      const refused = yield* vera.get(`${back.pathname}?error=access_denied&state=x`)
      assert.strictEqual(refused.status, 403)
      const page = yield* text(refused)
      assert.include(page, "Sign-in cancelled")
      assert.include(page, 'href="/portal/login"')
      assert.strictEqual((yield* vera.get(`${back.pathname}?error=temporarily_unavailable&state=x`)).status, 502)
      assert.strictEqual((yield* vera.get(`${back.pathname}?state=x`)).status, 400)
      back.searchParams.set("code", "nonsense")
      assert.strictEqual((yield* vera.get(back.href)).status, 502)
      const strict = yield* replica({ CT_PORTAL_ALLOWED_EMAIL_DOMAINS: "Example.test, other.test" })
      const enter = (email: "vera@example.test" | "una@unverified.test") =>
        Effect.gen(function* () {
          const self = browser()
          return yield* self.get(yield* self.signIn("/portal/login", email))
        })
      assert.strictEqual((yield* strict(enter("vera@example.test"))).status, 303)
      assert.strictEqual((yield* strict(enter("una@unverified.test"))).status, 403)
      const bare = yield* replica({ CT_OIDC_CLIENT_ID: "" })
      assert.strictEqual((yield* bare(browser().get("/portal"))).status, 200)
      for (const path of ["/portal/login", "/portal/callback", "/portal/callback?code=a&state=b"]) {
        assert.strictEqual((yield* bare(browser().get(path))).status, 503, path)
      }
      const few = yield* replica({ CT_CP_UNAUTH_WRITE_PER_MIN: "1" })
      assert.isTrue(isRefusedAsTooMany(yield* Effect.forEach(triesOver(1), () => few(browser().get("/portal/login")))))
    }).pipe(Effect.scoped)
  )
})
