import { ClientId } from "@catenet/domain/identity/ServiceAccount"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, References, Schema } from "effect"
import { RealmAdmin } from "../../src/identity/RealmAdmin.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { administrator, clients, login, realm, TestRealm, variables } from "./TestRealm.ts"

const id = (digit: string) => Schema.decodeSync(ClientId)(`sa-${digit.repeat(32)}`)

const adminOf = (given: Readonly<Record<string, string>>) =>
  RealmAdmin.layer.pipe(
    Layer.provide(Settings.layer),
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({ CT_CP_DATABASE_URL: "postgres://unused@127.0.0.1:1/none", ...given })
      )
    ),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
    Layer.fresh
  )

const withClient = <A, E, R>(self: Effect.Effect<A, E, R | RealmAdmin>) =>
  Effect.flatMap(variables, (given) => Effect.provide(self, adminOf(given)))

layer(TestRealm.layer, { excludeTestServices: true })("the realm's admin REST", (it) => {
  it.effect("makes, finds, renews and deletes a client, each as often as asked", () =>
    Effect.gen(function* () {
      const admin = yield* RealmAdmin
      const { idp } = yield* TestRealm
      const internal = yield* admin.createClient(id("1"), "build server")
      assert.strictEqual(yield* admin.createClient(id("1"), "build server"), internal)
      assert.strictEqual(idp.store.client(id("1"))?.standardFlowEnabled, false)

      const first = yield* admin.secret(internal)
      const second = yield* admin.rotateSecret(internal)
      assert.notStrictEqual((yield* login(id("1"), Redacted.value(first))).status, 200)
      assert.strictEqual((yield* login(id("1"), Redacted.value(second))).status, 200)

      yield* admin.deleteClient(id("1"), internal)
      yield* admin.deleteClient(id("1"), internal)
      yield* admin.deleteClient(id("1"), null)
      assert.deepStrictEqual(yield* clients, [])
      const gone = yield* Effect.flip(admin.rotateSecret(internal))
      assert.strictEqual(gone._tag, "IdentityProviderFailed")
    }).pipe(withClient)
  )

  it.effect("deletes a client of which only our own id is known", () =>
    Effect.gen(function* () {
      const admin = yield* RealmAdmin
      yield* admin.createClient(id("2"), "x")
      yield* admin.createClient(id("3"), "x")
      yield* admin.deleteClient(id("2"), null)
      assert.deepStrictEqual(yield* clients, [id("3")])
      yield* admin.deleteClient(id("3"), null)
    }).pipe(withClient)
  )

  it.effect("asks for one token however many wait, and for another when it is refused", () =>
    Effect.gen(function* () {
      const admin = yield* RealmAdmin
      const { calls, decide } = yield* TestRealm
      const tokens = () => calls.filter(({ path }) => path.endsWith("/token")).length
      const before = tokens()
      const find = admin.deleteClient(id("4"), null)
      yield* Effect.all(
        Array.from({ length: 20 }, () => find),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(tokens(), before + 1)

      let refusals = 1
      decide(({ path }) => (path.includes("/admin/") && refusals-- > 0 ? "unauthorized" : "pass"))
      yield* find
      assert.strictEqual(tokens(), before + 2)

      decide(({ path }) => (path.includes("/admin/") ? "unauthorized" : "pass"))
      assert.strictEqual((yield* Effect.flip(find))._tag, "IdentityProviderFailed")
      decide(() => "pass")
    }).pipe(withClient)
  )

  it.effect("takes an administrator of the provider as well", () =>
    Effect.gen(function* () {
      const { url } = yield* TestRealm
      const { email, password } = administrator
      const given = {
        KEYCLOAK_PUBLIC_URL: url,
        CT_OIDC_REALM: realm,
        KC_ADMIN_USER: email,
        KC_ADMIN_PASSWORD: password
      }
      const made = RealmAdmin.use((admin) => admin.createClient(id("5"), "x"))
      yield* Effect.provide(made, adminOf(given))
      assert.deepStrictEqual(yield* clients, [id("5")])
      const wrong = yield* Effect.flip(Effect.provide(made, adminOf({ ...given, KC_ADMIN_PASSWORD: "wrong" })))
      assert.strictEqual(wrong._tag, "IdentityProviderFailed")
      const half = yield* Effect.flip(Effect.provide(made, adminOf({ ...given, KC_ADMIN_PASSWORD: "" })))
      assert.strictEqual(half._tag, "IdentityProviderNotConfigured")
    })
  )
})
