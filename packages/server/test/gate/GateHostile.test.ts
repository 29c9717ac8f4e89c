import { browser, gated, portal, server } from "@catenet/testing/server/gate/SignInServer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

/** What no honest client sends, percent-encoded where it has to be. */
const nasty = [
  "",
  "%00",
  "%ff%fe",
  "%ed%a0%80",
  "%0d%0aset-cookie:a=b",
  "|",
  "%7C//evil.example",
  "evil.example%7C/",
  "odd.zone.example%7C%00",
  "..%2f..%2f",
  "%F0%9F%98%80",
  "'%3B--",
  "<script>",
  "[::1]",
  "x".repeat(6000)
]

const declared = new Set([200, 204, 302, 303, 400, 401, 403, 404, 405, 413, 415, 422, 429, 431, 502, 503])
const parameters = ["host", "return", "token", "code", "state", "next", "login_hint", "kc_idp_hint", "register"]
const paths = [
  "/gate/check",
  "/gate/start",
  "/gate/callback",
  "/gate/logout",
  "/gate/share",
  "/gate/request-access",
  "/portal",
  "/portal/login",
  "/portal/callback",
  "/portal/logout"
]
const cookies = ["ct_gate_session", "__Host-ct_gate_state", "ct_gate_target", "__Host-ct_portal_session"]

/** Where an answer may lead: the platform, its provider, or a host of its own. */
const isOurs = (location: string) =>
  /^\/(?![/\\])/u.test(location) ||
  /^https:\/\/(?:portal|odd)\.zone\.example(?:\/|$)/u.test(location) ||
  /^http:\/\/localhost:\d+\/realms\/demo\/protocol\//u.test(location)

layer(server, { excludeTestServices: true, timeout: "60 seconds" })(
  "whatever is sent to the gate and the portal",
  (it) => {
    it.effect("is answered as declared, and leads nowhere else", () =>
      Effect.gen(function* () {
        yield* gated("odd.zone.example")
        const hold = (path: string, init: RequestInit) =>
          Effect.gen(function* () {
            const response = yield* TestServer.raw(path, init)
            const about = `${init.method ?? "GET"} ${path.slice(0, 200)} ${JSON.stringify(init.headers).slice(0, 200)}`
            assert.isTrue(declared.has(response.status), `${response.status} ${about}`)
            const location = response.headers.get("location")
            assert.isTrue(location === null || isOurs(location), `${location} ${about}`)
            assert.isFalse(
              response.headers.getSetCookie().some((cookie) => cookie.startsWith("a=b")),
              about
            )
          })
        const requests = paths.flatMap((path) =>
          nasty.flatMap((value, n) => {
            const cookie = cookies.map((name) => `${name}=${value.slice(0, 500)}`).join("; ")
            const query = parameters.map((name) => `${name}=${value.slice(0, 1500)}`).join("&")
            const host = `host=odd.zone.example&return=${value}`
            const init = { method: ["GET", "HEAD", "POST", "OPTIONS"][n % 4] ?? "GET", headers: { cookie } }
            return [
              hold(`${path}?${query}`, init),
              hold(`${path}?${host}`, { headers: { cookie } }),
              hold(path, { headers: { "x-forwarded-host": value, "x-forwarded-uri": value } })
            ]
          })
        )
        const bodies = nasty.map((value) =>
          hold("/gate/request-access", {
            method: "POST",
            headers: { "content-type": "application/x-www-form-urlencoded" },
            body: `host=odd.zone.example&email=${value}@example.test&note=${value}&note=again&${value}`
          })
        )
        yield* Effect.all([...requests, ...bodies], { concurrency: 8, discard: true })
      })
    )

    it.effect("does not make another sign-in of one that is under way", () =>
      Effect.gen(function* () {
        yield* gated("even.zone.example")
        const olga = browser()
        const back = yield* olga.signIn("/gate/start?host=even.zone.example&return=/x", "olga@example.test")
        olga.jars.platform.set("ct_gate_target", "evil.example|//evil.example")
        const portalSecret = olga.jars.platform.get("__Host-ct_gate_state") ?? ""
        olga.jars.platform.set("__Host-ct_portal_state", portalSecret)
        const { search } = new URL(back)
        const crossed = yield* olga.get(`${portal}/portal/callback${search}`)
        assert.strictEqual(crossed.status, 403, "a visitor's sign-in is none to the portal")
        const entered = yield* olga.get(back)
        assert.strictEqual(entered.headers.get("location"), "https://even.zone.example/x", "the cookie decides nothing")
      })
    )
  }
)
