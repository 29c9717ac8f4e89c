import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Redacted } from "effect"
import { Settings } from "../../src/settings/Settings.ts"

const database = "postgres://user:secret@127.0.0.1:5432/catenet"

const read = (variables: Readonly<Record<string, string>>) =>
  Settings.pipe(
    Effect.provide(Settings.layer),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(variables))
  )

describe("settings", () => {
  it.effect("hold with nothing but a database", () =>
    Effect.gen(function* () {
      const settings = yield* read({ CT_CP_DATABASE_URL: database })
      assert.deepStrictEqual(settings.listen, { host: "127.0.0.1", port: 8090 })
      assert.strictEqual(Redacted.value(settings.databaseUrl), database)
      assert.isUndefined(settings.adminToken)
      assert.notInclude(String(settings.databaseUrl), "secret")
    })
  )

  it.effect("are refused in one sentence that names the variable and never repeats a secret", () =>
    Effect.gen(function* () {
      const cases = {
        CT_CP_DATABASE_URL: "mysql://user:secret@host/db",
        CT_CONTROL_PLANE_LISTEN: "nowhere",
        CT_CP_DATABASE_POOL: "many",
        CT_CP_SHUTDOWN_GRACE_SECS: "-1",
        CT_PORTAL_BASE_URL: "ftp://host",
        CT_CP_EDGE_ADMIN_TOKEN: "secret",
        CT_CP_MESH_EDGE_PORT: "65536"
      }
      for (const [name, value] of Object.entries(cases)) {
        const refusal = yield* Effect.flip(read({ CT_CP_DATABASE_URL: database, [name]: value }))
        assert.strictEqual(refusal._tag, "ConfigurationInvalid")
        assert.match(refusal.message, new RegExp(`^${name} is not .*; .*\\.$`))
        assert.notInclude(refusal.message, "secret")
      }
      const unset = yield* Effect.flip(read({}))
      assert.match(unset.message, /^CT_CP_DATABASE_URL is not set; set it to a URL such as /)
    })
  )

  it.effect("are refused with every problem at once", () =>
    Effect.gen(function* () {
      const { problems } = yield* Effect.flip(
        read({ CT_CP_DATABASE_POOL: "many", CT_EDGE_ID: "a", CT_PORTAL_BASE_URL: "x" })
      )
      assert.deepStrictEqual(
        problems.map(({ variable }) => variable),
        ["CT_CP_DATABASE_URL", "CT_CP_DATABASE_POOL", "CT_PORTAL_BASE_URL"]
      )
    })
  )

  it.effect("take every secret from the file that its _FILE names", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const file = (contents: string) =>
        Effect.tap(files.makeTempFileScoped(), (path) => files.writeFileString(path, contents))
      const { certificateAuthorities, databaseUrl, sealKeys } = yield* read({
        CT_CP_DATABASE_URL_FILE: yield* file(`${database}\n`),
        CT_CP_SEAL_KEY_FILE: yield* file(`${"5e".repeat(32)}\n${"6f".repeat(32)}\n`),
        CT_CP_ACME_EAB_ZEROSSL_KID: "kid",
        CT_CP_ACME_EAB_ZEROSSL_HMAC_FILE: yield* file("aG1hYw\n")
      })
      assert.strictEqual(Redacted.value(databaseUrl), database)
      assert.strictEqual(sealKeys?.length, 2)
      const [hmac] = certificateAuthorities.listed.flatMap(({ binding }) => binding?.hmac ?? [])
      assert.strictEqual(hmac && Redacted.value(hmac), "aG1hYw")
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )

  it.effect("treat an empty variable as unset", () =>
    Effect.gen(function* () {
      const settings = yield* read({ CT_CP_DATABASE_URL: database, CT_CP_EDGE_ADMIN_TOKEN: " ", CT_EDGE_ID: "" })
      assert.isUndefined(settings.adminToken)
      assert.strictEqual(settings.edgeId, "primary")
    })
  )

  it.effect("list certificate authorities: known ones, others at their directories, with budgets and bindings", () =>
    Effect.gen(function* () {
      const authorities = (variables: Readonly<Record<string, string>>) =>
        Effect.map(read({ CT_CP_DATABASE_URL: database, ...variables }), (settings) => settings.certificateAuthorities)
      const usual = yield* authorities({})
      assert.deepStrictEqual(
        usual.listed.map(({ binding, name, weeklyBudget }) => [name, weeklyBudget, binding]),
        [
          ["letsencrypt", 40, undefined],
          ["zerossl", 200, undefined],
          ["google-trust-services", 40, undefined]
        ]
      )
      assert.deepStrictEqual(
        usual.others.map(({ name }) => name),
        ["ssl.com", "letsencrypt-staging"]
      )
      const own = yield* authorities({
        CT_CP_ACME_CAS: "house-2 https://ca.house.example/acme/directory 7, google-trust-services , ssl.com 3",
        CT_CP_ACME_EAB_HOUSE2_KID: "k",
        CT_CP_ACME_EAB_HOUSE2_HMAC: "aG1hYw",
        CT_CP_ACME_EAB_GTS_KID: "half"
      })
      assert.deepStrictEqual(
        own.listed.map((ca) => [ca.name, ca.directoryUrl, ca.weeklyBudget, ca.requiresEab, ca.binding?.kid]),
        [
          ["house-2", "https://ca.house.example/acme/directory", 7, true, "k"],
          ["google-trust-services", "https://dv.acme-v02.api.pki.goog/directory", 40, true, undefined],
          ["ssl.com", "https://acme.ssl.com/sslcom-dv/directory", 3, true, undefined]
        ]
      )
      assert.deepStrictEqual(
        own.listed.map(({ isHalfBound }) => isHalfBound),
        [false, true, false]
      )
      assert.notInclude(String(own.listed[0]?.binding?.hmac), "aG1hYw")
      const refused = ["unknown", "a b c", "letsencrypt,letsencrypt", "x ftp://ca.example", "letsencrypt 0", ","]
      for (const CT_CP_ACME_CAS of refused) {
        const refusal = yield* Effect.flip(authorities({ CT_CP_ACME_CAS }))
        assert.match(refusal.message, /^CT_CP_ACME_CAS is not names separated by commas/, CT_CP_ACME_CAS)
      }
    })
  )

  it.effect("read addresses of every family", () =>
    Effect.gen(function* () {
      const of = (listen: string) =>
        Effect.map(
          read({ CT_CP_DATABASE_URL: database, CT_CONTROL_PLANE_LISTEN: listen }),
          (settings) => settings.listen
        )
      assert.deepStrictEqual(yield* of("[::1]:1"), { host: "::1", port: 1 })
      assert.deepStrictEqual(yield* of("name.example:65535"), { host: "name.example", port: 65535 })
      assert.deepStrictEqual(yield* of("0.0.0.0:0"), { host: "0.0.0.0", port: 0 })
    })
  )
})
