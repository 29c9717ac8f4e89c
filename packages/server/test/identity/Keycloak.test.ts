/** The realm of the guides: as it is written, and in a real Keycloak where one is. */
import * as Accounts from "@catenet/testing/server/Accounts"
import * as Keycloak from "@catenet/testing/server/Keycloak"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"

interface Client {
  readonly clientId: string
  readonly secret?: string
  readonly publicClient: boolean
  readonly redirectUris?: ReadonlyArray<string>
  readonly attributes?: Readonly<Record<string, string>>
  readonly directAccessGrantsEnabled: boolean
  readonly protocolMappers?: ReadonlyArray<{ readonly config: Readonly<Record<string, string>> }>
}

const realm = JSON.parse(readFileSync(Keycloak.realmFile, "utf8")) as {
  readonly realm: string
  readonly clients: ReadonlyArray<Client>
  readonly users: ReadonlyArray<{ readonly serviceAccountClientId: string; readonly clientRoles: unknown }>
}

const audienceOf = ({ protocolMappers = [] }: Client) => protocolMappers[0]?.config["included.custom.audience"]

it("the realm of the guides has a client for each purpose, and no secret", () => {
  const clients = Object.fromEntries(realm.clients.map((client) => [client.clientId, client]))
  assert.deepStrictEqual(Object.fromEntries(realm.clients.map((client) => [client.clientId, audienceOf(client)])), {
    "catenet-portal": "catenet",
    "catenet-gate": "catenet-gate",
    "ct-agent-cli": "catenet",
    "admin-cli": "catenet",
    "catenet-manager": undefined
  })
  for (const { publicClient, secret } of realm.clients)
    assert.strictEqual(
      publicClient ? undefined : /^\$\{CATENET_[A-Z]+_SECRET\}$/u.test(secret ?? ""),
      publicClient ? secret : true
    )
  assert.deepStrictEqual(clients["catenet-portal"]?.redirectUris, ["${CATENET_PORTAL_URL}/portal/callback"])
  assert.deepStrictEqual(clients["catenet-gate"]?.redirectUris, ["${CATENET_PORTAL_URL}/gate/callback"])
  assert.strictEqual(clients["ct-agent-cli"]?.attributes?.["oauth2.device.authorization.grant.enabled"], "true")
  assert.strictEqual(clients["admin-cli"]?.attributes?.["client.use.lightweight.access.token.enabled"], "false")
  assert.isTrue(clients["admin-cli"]?.directAccessGrantsEnabled)
  const [user] = realm.users
  assert.deepStrictEqual(
    [user?.serviceAccountClientId, user?.clientRoles],
    ["catenet-manager", { "realm-management": ["manage-clients"] }]
  )
})

const post = (url: string, form: Readonly<Record<string, string>>) =>
  Effect.promise(async () => {
    const response = await fetch(url, { method: "POST", body: new URLSearchParams(form) })
    return { status: response.status, body: (await response.json()) as Readonly<Record<string, string>> }
  })

const kim = { username: "kim@people.example", password: "correct horse" }

/** A person with an address, and a client of the realm that is none of ours. */
const prepare = Effect.fnUntraced(function* (origin: string) {
  const admin = yield* post(`${origin}/realms/master/protocol/openid-connect/token`, {
    grant_type: "password",
    client_id: "admin-cli",
    username: "admin",
    password: "admin"
  })
  const add = (path: string, body: unknown) =>
    Effect.promise(() =>
      fetch(`${origin}/admin/realms/catenet/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${admin.body["access_token"]}`, "content-type": "application/json" },
        body: JSON.stringify(body)
      })
    )
  const { password, username } = kim
  yield* add("users", {
    username,
    email: username,
    emailVerified: true,
    enabled: true,
    firstName: "Kim",
    lastName: "Kim",
    credentials: [{ type: "password", value: password }]
  })
  const other = { clientId: "other", publicClient: true, directAccessGrantsEnabled: true }
  yield* add("clients", other)
  const short = { "client.use.lightweight.access.token.enabled": "true" }
  yield* add("clients", { ...other, clientId: "short", attributes: short })
})

const suite = Effect.fnUntraced(function* (origin: string, audience: "with" | "without") {
  const issuer = `${origin}/realms/catenet`
  const token = (form: Readonly<Record<string, string>>) =>
    Effect.map(post(`${issuer}/protocol/openid-connect/token`, form), ({ body }) => body["access_token"] ?? "")
  const ask = (bearer: string, path = "/me/tunnels", more: RequestInit = {}) =>
    TestServer.raw(path, {
      ...more,
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" }
    })
  const statusOf = (bearer: string) => Effect.map(ask(bearer), ({ status }) => status)
  const byPassword = (client_id: string, more: Readonly<Record<string, string>> = {}) =>
    token({ grant_type: "password", client_id, ...kim, ...more })

  yield* Accounts.ready
  const own = yield* byPassword("admin-cli")
  assert.strictEqual(yield* statusOf(own), 200)
  assert.strictEqual(yield* statusOf(yield* byPassword("other")), audience === "with" ? 401 : 200)
  if (audience === "without") {
    // A token without `sub`: the provider says it where the token was asked for with openid.
    assert.strictEqual(yield* statusOf(yield* byPassword("short", { scope: "openid" })), 200)
    const refused = yield* ask(yield* byPassword("short"))
    assert.strictEqual(refused.status, 401)
    assert.include(yield* Effect.promise(() => refused.text()), "scope=openid")
    return
  }

  const made = yield* ask(own, "/me/service-accounts", { method: "POST", body: JSON.stringify({ name: "builds" }) })
  assert.strictEqual(made.status, 200)
  const account = (yield* Effect.promise(() => made.json())) as { client_id: string; secret: string }
  const builds = yield* token({
    grant_type: "client_credentials",
    client_id: account.client_id,
    client_secret: account.secret
  })
  assert.strictEqual(yield* statusOf(builds), 200)
  const removed = yield* ask(own, `/me/service-accounts/${account.client_id}`, { method: "DELETE" })
  assert.strictEqual(removed.status, 204)
  assert.strictEqual(yield* statusOf(builds), 401)

  const device = yield* post(`${issuer}/protocol/openid-connect/auth/device`, { client_id: "ct-agent-cli" })
  assert.strictEqual(device.status, 200)
  for (const path of ["/portal/login", "/gate/start"]) {
    const { headers, status } = yield* TestServer.raw(path)
    if (status < 300 || status > 399) continue
    const page = yield* Effect.promise(() => fetch(headers.get("location") ?? ""))
    assert.strictEqual(page.status, 200, path)
  }
})

describe.skipIf(!Keycloak.isInstalled)("Keycloak 26 (needs CATENET_KEYCLOAK_DIR)", () => {
  it.live(
    "with the realm of the guides signs in people, agents and service accounts, and no one else",
    () =>
      Effect.gen(function* () {
        const origin = yield* Keycloak.start
        yield* prepare(origin)
        const settings = {
          CT_OIDC_ISSUER: `${origin}/realms/catenet`,
          CT_OIDC_REALM: "catenet",
          CT_OIDC_CLIENT_ID: "catenet-portal",
          CT_OIDC_CLIENT_SECRET: Keycloak.secrets.portal,
          CT_PORTAL_BASE_URL: Keycloak.portal,
          KEYCLOAK_PUBLIC_URL: origin,
          CT_OIDC_ADMIN_CLIENT_ID: "catenet-manager",
          CT_OIDC_ADMIN_CLIENT_SECRET: Keycloak.secrets.manager
        }
        const strict = TestServer.replica({ ...settings, CT_OIDC_ACCESS_AUD: "catenet" })
        yield* suite(origin, "with").pipe(Effect.provide(strict))
        yield* suite(origin, "without").pipe(Effect.provide(TestServer.replica(settings)))
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(TestDatabase.layer))),
    400_000
  )
})
