/** Access tokens as Keycloak 26 gives them to `admin-cli`, and those of service accounts that are no more. */
import { ready, server } from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

const asked = (bearer: string) =>
  Effect.flatMap(TestServer.raw("/me/tunnels", { headers: { authorization: `Bearer ${bearer}` } }), (response) =>
    Effect.promise(async () => {
      const text = await response.text()
      return {
        status: response.status,
        body: text.startsWith("{") ? (JSON.parse(text) as { code: string; detail: string }) : undefined
      }
    })
  )

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("an access token without sub", (it) => {
  it.effect("is of the subject that the provider names at userinfo, which is asked once for each token", () =>
    Effect.gen(function* () {
      yield* ready
      const { token, userinfo } = yield* TestIssuer
      let questions = 0
      yield* userinfo((authorization) => {
        questions += 1
        return authorization.startsWith("Bearer ey") ? { sub: "lightweight-kim" } : 401
      })
      const own = yield* token({ azp: "admin-cli", jti: "one" })
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, () => asked(own)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.strictEqual((yield* asked(own)).status, 200)
      assert.strictEqual(questions, 1)
    })
  )

  it.effect("is refused with what to do where the provider does not say it, and never sent unverified", () =>
    Effect.gen(function* () {
      yield* ready
      const { token, userinfo } = yield* TestIssuer
      let questions = 0
      yield* userinfo(() => {
        questions += 1
        return 403
      })
      const own = yield* token({ azp: "admin-cli", jti: "two" })
      for (let n = 0; n < 2; n++) {
        const { body, status } = yield* asked(own)
        assert.deepStrictEqual([status, body?.code], [401, "Unauthenticated"])
        assert.match(body?.detail ?? "", /scope=openid/u)
      }
      assert.strictEqual(questions, 1)
      assert.strictEqual(
        (yield* asked(`${own.slice(0, -6)}AAAAAA`)).body?.detail,
        "This route needs a valid access token or portal session."
      )
      assert.strictEqual(questions, 1)

      // An outage is no answer: the same token is asked for again.
      const other = yield* token({ azp: "admin-cli", jti: "other" })
      yield* userinfo(() => 503)
      assert.strictEqual((yield* asked(other)).status, 401)
      yield* userinfo(() => ({ sub: "late" }))
      assert.strictEqual((yield* asked(other)).status, 200)
      yield* userinfo(() => ({ sub: "a\nb" }))
      assert.strictEqual((yield* asked(yield* token({ jti: "odd" }))).status, 401)
    })
  )
})
