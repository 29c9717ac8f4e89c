import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import * as Accounts from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, SchemaAST } from "effect"
import { HttpServer } from "effect/http"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"

const strictly = { CT_PORTAL_ALLOWED_EMAIL_DOMAINS: "Example.test, other.test" }

const person = (sub: string, email: string, more: Record<string, unknown> = {}) =>
  TestIssuer.use(({ token }) => token({ sub, email, email_verified: true, azp: "portal", ...more }))

const serviceAccount = (clientId: string) =>
  TestIssuer.use(({ token }) =>
    token({ sub: `of ${clientId}`, azp: clientId, preferred_username: `service-account-${clientId}` })
  )

const asked = (path: string, headers: Record<string, string>, method = "GET") =>
  Effect.flatMap(TestServer.raw(path, { method, headers }), (response) =>
    Effect.promise(async () => {
      const text = await response.text()
      const code = text.startsWith("{") ? (JSON.parse(text) as { code?: string }).code : undefined
      return code === undefined ? String(response.status) : `${response.status} ${code}`
    })
  )
const bearing = (token: string) => asked("/me/tunnels", { authorization: `Bearer ${token}` })
const refused = "403 EmailDomainRefused"

/** Every route that declares the refusal. */
const routes: Array<readonly [method: string, path: string]> = []
HttpApi.reflect(ControlPlaneApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, middleware }) => {
    const errors = Array.from(middleware, ({ error }) => [...error]).flat()
    if (errors.some(({ ast }) => SchemaAST.resolveIdentifier(ast) === "EmailDomainRefused"))
      routes.push([endpoint.method, endpoint.path.replace(/:[a-z_]+/gu, "0".repeat(64))])
  }
})

layer(Layer.merge(Accounts.server(strictly), Layer.empty), { excludeTestServices: true, timeout: "60 seconds" })(
  "allowed e-mail domains",
  (it) => {
    it.effect("admit bearer tokens only with a verified address of an allowed domain", () =>
      Effect.gen(function* () {
        yield* Accounts.ready
        assert.strictEqual(yield* bearing(yield* person("ada", "Ada@Example.TEST")), "200")
        assert.strictEqual(yield* bearing(yield* person("bob", "bob@other.test")), "200")
        for (const [email, more] of [
          ["eve@elsewhere.test"],
          ["eve@sub.example.test"],
          ["eve@example.test.evil.test"],
          ["eve@example.test", { email_verified: false }],
          ["eve@example.test", { email_verified: "true" }],
          ["eve@example.test", { email: undefined }]
        ] as const) {
          const token = yield* person("eve", email, more)
          assert.strictEqual(yield* bearing(token), refused, email)
          assert.strictEqual(yield* bearing(token), refused, "a remembered token too")
        }
      })
    )

    it.effect("bind sessions that were opened before, and the forms that they post", () =>
      Effect.gen(function* () {
        for (const [email, status] of [
          ["mia@example.test", "200"],
          ["mia@elsewhere.test", refused],
          [null, refused]
        ] as const) {
          const cookie = `__Host-ct_portal_session=${yield* Accounts.sessionOf("mia", email)}`
          // Where a token would do as well, the last thing that is missing is the token.
          assert.strictEqual(
            yield* asked("/me/tunnels", { cookie }),
            status === refused ? "401 Unauthenticated" : status
          )
          const posted = yield* asked("/portal/account/credits", { cookie, accept: "application/json" }, "POST")
          assert.strictEqual(posted === refused, status === refused, posted)
        }
      })
    )

    it.effect("bind service accounts by their owners, as they are now", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const of = (owner: string, digit: string, state = "active") =>
          Effect.as(
            sql`insert into service_accounts ${sql.insert({
              clientId: `sa-${digit.repeat(32)}`,
              owner,
              name: "n",
              state,
              place: state === "active" ? Number(digit) : null,
              internalId: `3b241101-e2bb-4255-8caf-4136c566a96${digit}`,
              keyHash: null,
              createdAt: 1,
              dueAt: 1
            })}`,
            `sa-${digit.repeat(32)}`
          )
        const own = yield* of("owner", "1")
        const gone = yield* of("owner", "2", "releasing")
        assert.strictEqual(yield* bearing(yield* serviceAccount(own)), refused, "its owner was never seen")
        assert.strictEqual(yield* bearing(yield* person("owner", "owner@example.test")), "200")
        assert.strictEqual(yield* bearing(yield* serviceAccount(own)), "200")
        assert.strictEqual(
          yield* bearing(yield* serviceAccount(gone)),
          "401 Unauthenticated",
          "an account that was given up"
        )
        assert.strictEqual(yield* bearing(yield* serviceAccount("sa-unknown")), refused)
        const posing = yield* TestIssuer.use(({ token }) => token({ sub: "eve", azp: own, preferred_username: "eve" }))
        assert.strictEqual(yield* bearing(posing), refused, "a person at the client of a service account")
        assert.strictEqual(yield* bearing(yield* person("owner", "owner@elsewhere.test")), refused)
        assert.strictEqual(yield* bearing(yield* serviceAccount(own)), refused, "its owner has moved")
      }).pipe(Effect.provide(Layer.fresh(Accounts.database)))
    )

    it.effect("bind every route of an account", () =>
      Effect.gen(function* () {
        const authorization = `Bearer ${yield* person("eve", "eve@elsewhere.test")}`
        const cookie = `__Host-ct_portal_session=${yield* Accounts.sessionOf("eve", "eve@elsewhere.test")}`
        assert.isAbove(routes.length, 50)
        for (const [method, path] of routes) {
          const said = [yield* asked(path, { authorization }, method), yield* asked(path, { cookie }, method)]
          assert.include(said, refused, `${method} ${path}`)
          for (const each of said) assert.match(each, /^40[13]/u, `${method} ${path}`)
        }
      })
    )

    it.effect("bind no account where none are configured", () =>
      Effect.gen(function* () {
        const { issuer } = yield* TestIssuer
        const open = yield* Layer.build(TestServer.replica({ CT_OIDC_ISSUER: issuer }))
        const on = Effect.provideService(HttpServer.HttpServer, Context.get(open, HttpServer.HttpServer))
        yield* on(Accounts.ready)
        assert.strictEqual(yield* on(bearing(yield* person("eve", "eve@elsewhere.test"))), "200")
        assert.strictEqual(yield* on(bearing(yield* serviceAccount("sa-unknown"))), "200")
      }).pipe(Effect.scoped)
    )
  }
)
