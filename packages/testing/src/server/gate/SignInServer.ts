/** A realm of the embedded provider, a control plane whose visitors sign in there, and browsers that visit both. */
import { TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Hostname } from "@catenet/domain/values/Hostname"
import { type IdentityProvider, start } from "@catenet/idp/IdentityProvider"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { HttpServer } from "effect/http"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { temporaryRoot } from "../../TemporaryRoot.ts"
import { ready } from "../Accounts.ts"
import * as TestServer from "../TestServer.ts"

export const password = "correct horse"
export const portal = "https://portal.zone.example"

/** Users of the realm: their addresses are verified, but for the last. */
export const people = [
  "olga@example.test",
  "vera@example.test",
  "eve@example.test",
  "ζωή@example.test",
  "una@unverified.test"
] as const
export type Address = (typeof people)[number]

export class Realm extends Context.Service<Realm, IdentityProvider>()("test/GateRealm") {
  static readonly layer = Layer.effect(
    Realm,
    Effect.acquireRelease(
      Effect.promise(async () => {
        const folder = mkdtempSync(join(temporaryRoot(), "catenet-gate-"))
        const idp = await start({
          realm: "demo",
          host: "127.0.0.1",
          port: 0,
          folder,
          audience: "catenet",
          users: people.map((email) => ({ email, password, emailVerified: !email.endsWith("@unverified.test") })),
          clients: [
            { clientId: "admin-cli", publicClient: true, directAccessGrantsEnabled: true },
            { clientId: "ct-agent-cli", publicClient: true, deviceGrantEnabled: true },
            {
              clientId: "manager",
              secret: "manager-secret",
              serviceAccountsEnabled: true,
              managementRoles: ["manage-clients", "manage-users"]
            },
            {
              clientId: "portal",
              secret: "portal-secret",
              standardFlowEnabled: true,
              redirectUris: [`${portal}/gate/callback`, `${portal}/portal/callback`],
              postLogoutRedirectUris: [`${portal}/portal`]
            }
          ]
        })
        return { folder, idp }
      }),
      ({ folder, idp }) =>
        Effect.promise(async () => {
          await idp.close()
          rmSync(folder, { recursive: true, force: true })
        })
    ).pipe(Effect.map(({ idp }) => idp))
  )
}

/** The variables of every replica. */
export const variables = Effect.map(Realm, ({ issuer }) => ({
  CT_OIDC_ISSUER: issuer,
  CT_OIDC_CLIENT_ID: "portal",
  CT_OIDC_CLIENT_SECRET: "portal-secret",
  CT_PORTAL_BASE_URL: portal,
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_CP_UNAUTH_WRITE_PER_MIN: "0",
  CT_CP_FORWARDING_PROXIES: "127.0.0.1, ::1"
}))

export const server = Layer.unwrap(Effect.map(variables, TestServer.layer)).pipe(Layer.provideMerge(Realm.layer))

/** Another replica, with other settings where some are given. */
export const replica = (more: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(variables, (same) =>
    Effect.map(
      Layer.build(TestServer.replica({ ...same, ...more })),
      (context) =>
        <A, E, R>(self: Effect.Effect<A, E, R>) =>
          Effect.provideService(self, HttpServer.HttpServer, Context.get(context, HttpServer.HttpServer))
    )
  )

/** A typed client of a person, by an access token of the realm. */
export const account = (email: Address) =>
  Effect.gen(function* () {
    const { issuer } = yield* Realm
    const form = { grant_type: "password", client_id: "admin-cli", username: email, password }
    const bearer = yield* Effect.promise(async () => {
      const response = await fetch(`${issuer}/protocol/openid-connect/token`, {
        method: "POST",
        body: new URLSearchParams(form)
      })
      return ((await response.json()) as { access_token: string }).access_token
    })
    // The server fetches the keys of the realm in the background.
    yield* ready
    return yield* TestServer.clientAs({ bearer })
  })

const hostFrom = Schema.decodeSync(Hostname)
const nameFrom = Schema.decodeSync(TunnelName)

/** A gated tunnel of Olga's. */
export const gated = (host: string, change: Partial<TunnelChange> = {}) =>
  Effect.gen(function* () {
    const { tunnels } = yield* account("olga@example.test")
    const { id } = yield* tunnels.create({
      headers: {},
      payload: { name: nameFrom("site"), hostname: hostFrom(host) }
    })
    yield* tunnels.change({ params: { id }, payload: new TunnelChange({ require_login: true, ...change }) })
    return { id, tunnels }
  })

const action = (text: string, base: string) => new URL(/action="([^"]+)"/.exec(text)?.[1] ?? "", base).href

/** A browser: it keeps the cookies of the platform and of the provider apart, and follows redirects when it is asked to. */
export const browser = () => {
  const jars = { platform: new Map<string, string>(), provider: new Map<string, string>() }
  const keep = (jar: Map<string, string>, response: Response) => {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (/Max-Age=0\b|Expires=Thu, 01 Jan 1970/u.test(cookie)) jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }
  const cookies = (jar: Map<string, string>) => Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ")

  /** One request to the platform. */
  const get = (address: string, headers: Readonly<Record<string, string>> = {}) => {
    const { pathname, search } = new URL(address, portal)
    return Effect.map(
      TestServer.raw(`${pathname}${search}`, { headers: { cookie: cookies(jars.platform), ...headers } }),
      (response) => keep(jars.platform, response)
    )
  }

  /** Requests to the provider until it leads away or shows a page. */
  const walk = async (url: string, form?: Readonly<Record<string, string>>): Promise<{ url: string; text: string }> => {
    const response = keep(
      jars.provider,
      await fetch(url, {
        redirect: "manual",
        headers: { cookie: cookies(jars.provider) },
        ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) })
      })
    )
    const location = response.headers.get("location")
    if (location === null) return { url, text: await response.text() }
    const next = new URL(location, url).href
    return next.startsWith(portal) ? { url: next, text: "" } : walk(next)
  }

  /** From the gate to the provider and back: the address to which the provider sends the browser. */
  const signIn = (startAddress: string, email: Address) =>
    Effect.gen(function* () {
      const started = yield* get(startAddress)
      assert.strictEqual(started.status, 303)
      return yield* Effect.promise(async () => {
        const page = await walk(started.headers.get("location") ?? "")
        return (await walk(action(page.text, page.url), { username: email, password })).url
      })
    })

  /** What the proxy would learn about this browser. */
  const check = (host: string, uri = "/") => get("/gate/check", { "x-forwarded-host": host, "x-forwarded-uri": uri })

  return { jars, get, signIn, check }
}

/** So many tries that one is too many in its minute of the clock, also where the minute ends among them. */
export const triesOver = (most: number) => Array.from({ length: 2 * most + 1 }, (_, n) => n)

/** Whether one of the answers says that there were too many, and when to come again. */
export const isRefusedAsTooMany = (answers: ReadonlyArray<Response>) =>
  answers.some(({ headers, status }) => status === 429 && /^[1-9][0-9]?$/.test(headers.get("retry-after") ?? ""))

export const text = (response: Response) => Effect.promise(() => response.text())
