import { eventually } from "@catenet/testing/Eventually"
import { Realm } from "@catenet/testing/server/gate/SignInServer"
import * as Keycloak from "@catenet/testing/server/Keycloak"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { decodeJwt } from "jose"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { AccountEdge, ended, home, running, stackWith } from "./AccountStack.ts"
import { visitor } from "./CookieVisits.ts"
import { application, connected } from "./McpClients.ts"

const mcpServer = fileURLToPath(new URL("../../../agent/test/harness/McpServer.ts", import.meta.url))

/** A Keycloak in the place of the embedded provider, and the clients of its realm. */
const realm = Layer.effect(
  Realm,
  Effect.map(Keycloak.start, (origin) => ({
    issuer: `${origin}/realms/catenet`,
    origin,
    port: Number(new URL(origin).port),
    // What only the embedded provider has.
    store: undefined as never,
    leave: () => {},
    rotate: async () => {},
    close: async () => {}
  }))
)
const settings = {
  CT_OIDC_REALM: "catenet",
  CT_OIDC_CLIENT_ID: "catenet-portal",
  CT_OIDC_CLIENT_SECRET: Keycloak.secrets.portal,
  CT_OIDC_ADMIN_CLIENT_ID: "catenet-manager",
  CT_OIDC_ADMIN_CLIENT_SECRET: Keycloak.secrets.manager,
  CT_OIDC_ACCESS_AUD: "catenet"
}

/** The scope by which the realm makes tokens for the host. */
const scope = "mcp-tools"

const kim = { username: "kim@people.example", password: "correct horse" }

const json = async (url: string, form: Readonly<Record<string, string>>) =>
  (await (await fetch(url, { method: "POST", body: new URLSearchParams(form) })).json()) as Record<string, string>

/** The administrator's interface of the realm. */
const administrator = async (origin: string) => {
  const { access_token } = await json(`${origin}/realms/master/protocol/openid-connect/token`, {
    grant_type: "password",
    client_id: "admin-cli",
    username: "admin",
    password: "admin"
  })
  return (method: string, path: string, body?: unknown) =>
    fetch(`${origin}/admin/realms/catenet/${path}`, {
      method,
      headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
}

/** A person of the realm. */
const person = async (origin: string) => {
  const ask = await administrator(origin)
  await ask("POST", "users", {
    username: kim.username,
    email: kim.username,
    emailVerified: true,
    enabled: true,
    firstName: "Kim",
    lastName: "Kim",
    credentials: [{ type: "password", value: kim.password }]
  })
}

/** What docs/mcp.md says that a Keycloak needs: a scope for the host, and registration of programs on people's own machines. */
const admitsApplications = async (origin: string, resource: string) => {
  const ask = await administrator(origin)
  const mapper = {
    name: "host",
    protocol: "openid-connect",
    protocolMapper: "oidc-audience-mapper",
    config: { "included.custom.audience": resource, "access.token.claim": "true", "id.token.claim": "false" }
  }
  const made = await ask("POST", "client-scopes", {
    name: scope,
    protocol: "openid-connect",
    protocolMappers: [mapper]
  })
  assert.strictEqual(made.status, 201)
  const kind = "org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy"
  const policies = (await (await ask("GET", `components?type=${kind}`)).json()) as ReadonlyArray<{
    readonly id: string
    readonly providerId: string
    readonly subType: string
  }>
  const configure = async (provider: string, config: object) => {
    const policy = policies.find(({ providerId, subType }) => providerId === provider && subType === "anonymous")
    assert.strictEqual((await ask("PUT", `components/${policy?.id}`, { ...policy, config })).status, 204)
  }
  await configure("trusted-hosts", {
    "host-sending-registration-request-must-match": ["false"],
    "client-uris-must-match": ["true"],
    "trusted-hosts": ["localhost", "127.0.0.1"]
  })
  await configure("allowed-client-templates", {
    "allow-default-scopes": ["true"],
    "allowed-client-scopes": ["openid", scope]
  })
}

const unescaped = (text: string) => text.replaceAll("&amp;", "&")

/** Follows the pages from the address of the code to the one that says that the device is connected. */
const confirm = async (address: string) => {
  const visit = visitor()
  let page = await visit(address)
  for (let step = 0; step < 4; step++) {
    const [, action] = /<form[^>]*action="([^"]+)"/u.exec(page.text) ?? []
    if (action === undefined) break
    const isSignIn = page.text.includes('name="password"')
    const code = /name="code" value="([^"]*)"/u.exec(page.text)?.[1]
    const form = isSignIn ? kim : { accept: "Yes", ...(code === undefined ? {} : { code }) }
    page = await visit(new URL(unescaped(action), page.url).href, form)
  }
  assert.match(page.text, /Device Login Successful/u)
}

describe.skipIf(!Keycloak.isInstalled)("a login at Keycloak 26 (needs CATENET_KEYCLOAK_DIR)", () => {
  it.live(
    "goes by its device pages, is refreshed, and ends there at the logout",
    () =>
      Effect.gen(function* () {
        const origin = yield* Keycloak.start
        yield* Effect.promise(() => person(origin))
        const at = yield* home
        const env = { CT_OIDC_ISSUER: `${origin}/realms/catenet` }
        const agent = yield* running(at, ["login"], env)
        const line = yield* Effect.promise(() => agent.said("or open "))
        yield* Effect.promise(() => confirm(line.split("or open ")[1] ?? ""))
        assert.strictEqual(yield* Effect.promise(() => agent.exited), 0, agent.lines.join("\n"))
        const file = join(at.path, ".ct-agent", "oidc-token.json")
        const stored = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>
        assert.isNumber(stored["access_expires_at"])
        assert.isString(stored["refresh_token"])

        const expire = (login: Readonly<Record<string, unknown>>) =>
          writeFileSync(file, JSON.stringify({ ...login, access_expires_at: 1 }), { mode: 0o600 })
        expire(stored)
        const self = yield* ended(at, ["whoami", "--json"])
        assert.strictEqual(self.code, 0, self.stderr)
        assert.include(JSON.parse(self.stdout), { issuer: env.CT_OIDC_ISSUER, credential: "stored" })
        const renewed = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>
        assert.notStrictEqual(renewed["access_token"], stored["access_token"])

        const left = yield* ended(at, ["logout"])
        assert.strictEqual(left.code, 0)
        assert.notInclude(left.stderr, "was not informed")
        assert.isFalse(existsSync(file))
        expire(renewed)
        assert.strictEqual((yield* ended(at, ["whoami"])).code, 4)
      }).pipe(Effect.scoped),
    400_000
  )

  it.live(
    "lets an application register, sign a person in and call an MCP server",
    () =>
      Effect.gen(function* () {
        const { origin } = yield* Realm
        yield* Effect.promise(() => person(origin))
        const at = yield* home
        const base = yield* TestServer.baseUrl
        const signing = yield* running(at, ["login", base])
        const line = yield* Effect.promise(() => signing.said("or open "))
        yield* Effect.promise(() => confirm(line.split("or open ")[1] ?? ""))
        assert.strictEqual(yield* Effect.promise(() => signing.exited), 0, signing.lines.join("\n"))
        const command = ["--", process.execPath, mcpServer]
        const agent = yield* running(at, ["mcp", "--name", "tools", "--scope", scope, ...command])
        yield* Effect.promise(() => eventually(() => agent.stdout() !== "", "an address"))
        const address = agent.stdout().trim()
        const resource = new URL("/", address).href
        yield* Effect.promise(() => admitsApplications(origin, resource))
        const edge = yield* AccountEdge
        yield* Effect.promise(async () => {
          const app = application(kim)
          const client = await connected(edge, address, app)
          const { tools } = await client.listTools()
          assert.include(
            tools.map(({ name }) => name),
            "whoami"
          )
          await client.close()
          const token = app.tokens()?.access_token ?? ""
          assert.include([decodeJwt(token).aud].flat(), resource)
          // Such a token opens no account.
          const bearer = { headers: { authorization: `Bearer ${token}` } }
          assert.strictEqual((await fetch(new URL("/me/account", base), bearer)).status, 401)
        })
      }).pipe(Effect.scoped, Effect.provide(stackWith(realm, settings))),
    400_000
  )
})
