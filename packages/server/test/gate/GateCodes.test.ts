import { TunnelChange } from "@catenet/domain/tunnels/Tunnel"
import { account, browser, gated, Realm, replica, server } from "@catenet/testing/server/gate/SignInServer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

const redeem = (body: { readonly host: string; readonly code: string; readonly browser: string }) =>
  TestServer.raw("/internal/gate/redeem", {
    method: "POST",
    headers: { "content-type": "application/json", "x-ct-admin-token": TestServer.adminToken },
    body: JSON.stringify(body)
  })

/** A visitor who has signed in: the code with which the browser is sent to the host. */
const signedIn = Effect.fn("signedIn")(function* (host: string) {
  const vera = browser()
  const start = new URL((yield* vera.check(host, "/photos?year=2026")).headers.get("location") ?? "")
  const back = yield* vera.signIn(start.href, "vera@example.test")
  const entry = new URL((yield* vera.get(back)).headers.get("location") ?? "")
  assert.strictEqual(`${entry.origin}${entry.pathname}`, `https://${host}/.catenet/gate`)
  return { host, code: entry.searchParams.get("code") ?? "", browser: start.searchParams.get("browser") ?? "" }
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the code of a sign-in", (it) => {
  it.effect("shows it with a visitor who has signed in: one session, however many ask at once on two replicas", () =>
    Effect.gen(function* () {
      yield* gated("code.zone.example", { allow_any_login: true })
      yield* gated("other.zone.example", { allow_any_login: true })
      const shown = yield* signedIn("code.zone.example")
      for (const wrong of [{ host: "other.zone.example" }, { browser: "0".repeat(64) }, { code: "A".repeat(43) }]) {
        assert.strictEqual((yield* redeem({ ...shown, ...wrong })).status, 403)
      }
      const there = yield* replica()
      const answers = yield* Effect.all(
        Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? redeem(shown) : there(redeem(shown)))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [
        200,
        ...Array.from({ length: 11 }, () => 403)
      ])
      const given = answers.find(({ status }) => status === 200)
      const entry = yield* Effect.promise(
        () => given?.json() as Promise<{ session: string; seconds: number; path: string }>
      )
      assert.strictEqual(entry.path, "/photos?year=2026")
      assert.approximately(entry.seconds, 28_800, 20)

      const session = { cookie: `ct_gate_session=${entry.session}` }
      const inside = yield* TestServer.raw("/gate/check", { headers: { ...session, "x-forwarded-host": shown.host } })
      assert.deepStrictEqual([inside.status, inside.headers.get("x-gate-email")], [200, "vera@example.test"])
      for (const headers of [
        session,
        { cookie: `__Host-ct_portal_session=${entry.session}` },
        { authorization: `Bearer ${entry.session}` }
      ]) {
        assert.strictEqual((yield* TestServer.raw("/me/tunnels", { headers })).status, 401, "it opens no account")
      }
    }).pipe(Effect.scoped)
  )

  it.effect("is worth nothing at the accounts, with whatever the browser has of the sign-in", () =>
    Effect.gen(function* () {
      yield* gated("apart.zone.example", { allow_any_login: true })
      const vera = browser()
      const back = new URL(yield* vera.signIn("/gate/start?host=apart.zone.example&return=/", "vera@example.test"))
      const secret = vera.jars.platform.get("__Host-ct_gate_state") ?? ""
      assert.notStrictEqual(secret, "")
      const cookie = `__Host-ct_gate_state=${secret}; __Host-ct_portal_state=${secret}; __Host-ct_portal_sign_in=${secret}`
      const answer = yield* TestServer.raw(`/portal/callback${back.search}`, { headers: { cookie } })
      assert.isAtLeast(answer.status, 400)
      assert.notInclude(answer.headers.get("set-cookie") ?? "", "__Host-ct_portal_session=")
    })
  )

  it.effect("cannot be had by an access token for accounts, nor does one open a gate", () =>
    Effect.gen(function* () {
      const { id, tunnels } = yield* gated("bearer.zone.example", { allow_any_login: true })
      const { issuer } = yield* Realm
      const form = {
        grant_type: "password",
        client_id: "admin-cli",
        username: "vera@example.test",
        password: "correct horse"
      }
      const token = yield* Effect.promise(async () => {
        const response = await fetch(`${issuer}/protocol/openid-connect/token`, {
          method: "POST",
          body: new URLSearchParams(form)
        })
        return ((await response.json()) as { readonly access_token: string }).access_token
      })
      yield* account("vera@example.test")
      const headers = { authorization: `Bearer ${token}`, "x-forwarded-host": "bearer.zone.example" }
      assert.strictEqual((yield* TestServer.raw("/me/tunnels", { headers })).status, 200)
      assert.strictEqual((yield* TestServer.raw("/gate/check", { headers })).status, 302)
      yield* tunnels.change({ params: { id }, payload: new TunnelChange({ require_login: false }) })
    })
  )
})
