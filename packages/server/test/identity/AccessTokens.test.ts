import { until } from "@catenet/testing/Eventually"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"

const serverFor = (issuer: Layer.Layer<TestIssuer>, variables: Readonly<Record<string, string>> = {}) =>
  Layer.unwrap(
    Effect.map(TestIssuer, (own) =>
      TestServer.layer({ CT_OIDC_ISSUER: own.issuer, CT_OIDC_ACCESS_AUD: "catenet", ...variables })
    )
  ).pipe(Layer.provideMerge(issuer))

const statusOf = (bearer: string | undefined) =>
  Effect.map(
    TestServer.raw("/me/tunnels", bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } }),
    ({ status }) => status
  )

const enabled = Effect.flatMap(TestServer.raw("/status"), (response) =>
  Effect.promise(async () => ((await response.json()) as { oidc_enabled: boolean }).oidc_enabled)
)

const untilEnabled = until(enabled, (on) => on)

const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset

layer(serverFor(TestIssuer.layer), { excludeTestServices: true, timeout: "60 seconds" })("access tokens", (it) => {
  it.effect("are accepted for what they are", () =>
    Effect.gen(function* () {
      yield* untilEnabled
      const { token } = yield* TestIssuer
      assert.strictEqual(yield* statusOf(yield* token({ sub: "ada" })), 200)
      assert.strictEqual(yield* statusOf(yield* token({ sub: "ada", aud: ["other", "catenet"] })), 200)
      assert.strictEqual(yield* statusOf(yield* token({ sub: "ada", exp: seconds(-10) })), 200, "within the leeway")
    })
  )

  it.effect("are refused for what they are not", () =>
    Effect.gen(function* () {
      yield* untilEnabled
      const { token } = yield* TestIssuer
      const good = yield* token({ sub: "ada" })
      const refused = {
        none: undefined,
        empty: "",
        garbage: "a.b.c",
        unsigned: `${good.split(".").slice(0, 2).join(".")}.`,
        forged: good.slice(0, -6) + "AAAAAA",
        "other audience": yield* token({ sub: "ada", aud: "other" }),
        "no audience": yield* token({ sub: "ada", aud: undefined }),
        "other issuer": yield* token({ sub: "ada", iss: "http://elsewhere" }),
        expired: yield* token({ sub: "ada", exp: seconds(-120) }),
        "without expiry": yield* token({ sub: "ada", exp: undefined }),
        "not yet": yield* token({ sub: "ada", nbf: seconds(120) }),
        "an id token": yield* token({ sub: "ada", typ: "ID" }),
        "a refresh token": yield* token({ sub: "ada", typ: "Refresh" }),
        "without subject": yield* token({}),
        "with an unspeakable subject": yield* token({ sub: "a\nb" })
      }
      for (const [what, bearer] of Object.entries(refused)) assert.strictEqual(yield* statusOf(bearer), 401, what)
    })
  )

  it.effect("are asked for, and answered as invalid where they are sent", () =>
    Effect.gen(function* () {
      yield* untilEnabled
      const { token } = yield* TestIssuer
      const asked = (path: string, headers: Readonly<Record<string, string>> = {}) =>
        Effect.map(TestServer.raw(path, { headers }), (response) => response.headers.get("www-authenticate"))
      const metadata = 'resource_metadata="https://localhost/.well-known/oauth-protected-resource"'
      assert.strictEqual(yield* asked("/me/tunnels"), `Bearer ${metadata}`)
      const authorization = `Bearer ${yield* token({ sub: "ada", exp: seconds(-120) })}`
      assert.strictEqual(yield* asked("/me/tunnels", { authorization }), `Bearer error="invalid_token", ${metadata}`)
      assert.strictEqual(yield* asked("/admin/audit-log"), 'CatenetAdmin header="x-ct-admin-token"')
      assert.match((yield* asked("/portal/claims")) ?? "", /^Cookie cookie-name="__Host-ct_portal_session"/)
    })
  )
})

layer(serverFor(TestIssuer.layer), { excludeTestServices: true, timeout: "60 seconds" })("rotated keys", (it) => {
  it.effect("are learned by the name in the token, and outlive an absence of the provider", () =>
    Effect.gen(function* () {
      yield* untilEnabled
      const { away, fetches, rotate, token } = yield* TestIssuer
      const old = yield* token({ sub: "ada" })
      yield* rotate("second", { keep: true })
      const known = statusOf(yield* token({ sub: "bob" }))
      yield* until(known, (status) => status === 200, "100 millis")
      yield* away(true)
      assert.strictEqual(yield* statusOf(old), 200, "the known key still holds")
      assert.strictEqual(yield* statusOf(yield* token({ sub: "cyd" })), 200, "and so does the new one")
      const before = fetches()
      yield* rotate("third")
      const unknown = yield* token({ sub: "dan" })
      yield* Effect.all(
        Array.from({ length: 20 }, () => statusOf(unknown)),
        { concurrency: "unbounded" }
      )
      assert.isAtMost(fetches() - before, 1, "an unknown key does not make us hammer the provider")
    })
  )
})

layer(serverFor(TestIssuer.layer), { excludeTestServices: true, timeout: "60 seconds" })("a rotation", (it) => {
  it.effect("refuses none of 200 requests at once, also just after another fetch", () =>
    Effect.gen(function* () {
      yield* untilEnabled
      const { fetches, rotate, token } = yield* TestIssuer
      const allOf = (bearer: string) =>
        Effect.map(
          Effect.all(
            Array.from({ length: 200 }, () => statusOf(bearer)),
            { concurrency: "unbounded" }
          ),
          (statuses) => [...new Set(statuses)]
        )
      for (const name of ["second", "third"]) {
        yield* rotate(name, { keep: true })
        const before = fetches()
        assert.deepStrictEqual(yield* allOf(yield* token({ sub: "ada" })), [200], name)
        assert.isAtMost(fetches() - before, 2, name)
      }
    })
  )
})

layer(serverFor(TestIssuer.layer), { excludeTestServices: true, timeout: "60 seconds" })("a key that is gone", (it) => {
  it.effect("verifies nothing any more, what it had verified before included", () =>
    Effect.gen(function* () {
      yield* untilEnabled
      const { rotate, token } = yield* TestIssuer
      const stolen = yield* token({ sub: "ada" })
      assert.strictEqual(yield* statusOf(stolen), 200)
      yield* rotate("second")
      assert.strictEqual(yield* statusOf(stolen), 200, "it is not known yet that the key is gone")
      yield* until(statusOf(yield* token({ sub: "ada" })), (status) => status === 200, "100 millis")
      assert.strictEqual(yield* statusOf(stolen), 401)
    })
  )
})

layer(serverFor(TestIssuer.layerStarting({ away: true })), { excludeTestServices: true, timeout: "60 seconds" })(
  "a provider that is away at the start",
  (it) => {
    it.effect("hides the routes until it is back", () =>
      Effect.gen(function* () {
        const { away, token } = yield* TestIssuer
        assert.isFalse(yield* enabled)
        const bearer = yield* token({ sub: "ada" })
        for (const path of ["/me/tunnels", "/me/nothing"]) {
          const response = yield* TestServer.raw(path, { headers: { authorization: `Bearer ${bearer}` } })
          assert.strictEqual(response.status, 404)
        }
        assert.strictEqual(yield* statusOf(undefined), 404)
        yield* away(false)
        yield* untilEnabled
        assert.strictEqual(yield* statusOf(bearer), 200)
      })
    )
  }
)
