/**
 * One realm on one port: `<origin>/realms/<realm>` is the issuer, `<origin>/admin/realms/<realm>` the admin REST. With a
 * folder alone it is for development, as sessions are in memory; `RealmOptions.state` keeps everything elsewhere.
 */
import { Http } from "@catenet/platform/Http"
import { addressBlock } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import { createLocalJWKSet, errors as joseErrors, type JWTPayload, jwtVerify } from "jose"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type Provider from "oidc-provider"
import * as Account from "./AccountPages.ts"
import { AccountPages } from "./AccountPages.ts"
import * as AdminApi from "./AdminApi.ts"
import * as Applications from "./Applications.ts"
import * as HttpBodies from "./HttpBodies.ts"
import { Interactions } from "./Interactions.ts"
import { protocol, userClaims } from "./KeycloakShape.ts"
import * as Pages from "./Pages.ts"
import { PasskeyChallenges } from "./PasskeyChallenges.ts"
import { passkeyScript } from "./PasskeyScript.ts"
import * as RealmProvider from "./Provider.ts"
import * as ProviderAdapter from "./ProviderAdapter.ts"
import type { RealmOptions } from "./RealmOptions.ts"
import { RealmStore } from "./RealmStore.ts"
import { SignInAttempts } from "./SignInAttempts.ts"
import { textsFor } from "./Texts.ts"
import { Upstreams } from "./Upstreams.ts"

/** Sign-ins that one network begins, each of which is kept for an hour. */
export const signInsPerMinute = 120
const begins = /^(?:\/protocol\/openid-connect\/(?:auth|registrations|ext\/par)|\/device)(?:\/|$)/u

export interface IdentityProvider {
  readonly issuer: string
  readonly origin: string
  readonly port: number
  readonly store: RealmStore
  /** Replaces keys that have signed for long enough; to be called from time to time. */
  readonly rotate: () => Promise<void>
  /** It is about to stop, and says so to load balancers (`/health/ready`, as Keycloak does). */
  readonly leave: () => void
  /** Stops listening, and ends the connections that are left after so long. */
  readonly close: (graceMillis?: number) => Promise<void>
}

const listen = (server: Server, host: string, port: number) =>
  new Promise<number>((resolve, reject) => {
    server.once("error", reject)
    server.listen({ host, port }, () => {
      server.off("error", reject)
      const address = server.address()
      resolve(address !== null && typeof address === "object" ? address.port : port)
    })
  })

const publicKeys = ({ keys: { signing } }: RealmStore) =>
  createLocalJWKSet({
    keys: signing.map(({ alg, e, kid, kty, n, use }) => JSON.parse(JSON.stringify({ alg, e, kid, kty, n, use })))
  })

const managementRoles = (claims: JWTPayload): ReadonlyArray<string> => {
  const access = claims["resource_access"]
  const management = typeof access === "object" && access !== null ? Reflect.get(access, "realm-management") : undefined
  const roles: unknown =
    typeof management === "object" && management !== null ? Reflect.get(management, "roles") : undefined
  return Array.isArray(roles) ? roles.filter((role): role is string => typeof role === "string") : []
}

/** Starts the realm. Rejects when the port is taken. */
export const start = async (options: RealmOptions): Promise<IdentityProvider> => {
  const store = await RealmStore.open(options)
  const attempts = new SignInAttempts(store)
  const remembered = await ProviderAdapter.make(store)
  let keys = publicKeys(store)
  const base = `/realms/${options.realm}`
  const adminBase = `/admin/realms/${options.realm}`
  const begun = new TokenBuckets(signInsPerMinute)
  let origin = ""
  let pages:
    | { readonly interactions: Interactions; readonly account: AccountPages | undefined; readonly upstreams: Upstreams }
    | undefined
  let leaving = false
  let provider: Provider | undefined
  let oidc: ReturnType<Provider["callback"]> | undefined

  const bearerClaims = async (request: IncomingMessage): Promise<JWTPayload | undefined> => {
    const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "")?.[1]
    if (token === undefined) return undefined
    try {
      const { payload } = await jwtVerify(token, keys, { issuer: `${origin}${base}`, algorithms: ["RS256"] })
      // A token for the host of a tunnel is in the hands of that tunnel's owner.
      return [payload.aud].flat().some((aud) => Applications.isHost(aud ?? "")) ? undefined : payload
    } catch (cause) {
      if (cause instanceof joseErrors.JOSEError) return undefined
      throw cause
    }
  }

  const userinfo = async (request: IncomingMessage, response: ServerResponse) => {
    const claims = await bearerClaims(request)
    const user = claims?.sub === undefined ? undefined : await store.user(claims.sub)
    if (user !== undefined) return HttpBodies.json(response, 200, userClaims(user))
    response.setHeader("www-authenticate", 'Bearer error="invalid_token"')
    HttpBodies.json(response, 401, { error: "invalid_token" })
  }

  /** What the provider would read of a proxy is ours to say, not a visitor's. */
  const behindTls = ({ headers }: IncomingMessage, publicUrl: string) => {
    const { host, protocol } = new URL(publicUrl)
    for (const name of Object.keys(headers)) if (name.startsWith("x-forwarded-")) Reflect.deleteProperty(headers, name)
    Object.assign(headers, { "x-forwarded-host": host, "x-forwarded-proto": protocol.slice(0, -1) })
  }

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (options.publicUrl !== undefined) behindTls(request, options.publicUrl)
    response.setHeader("referrer-policy", "no-referrer")
    const url = new URL(request.url ?? "/", origin)
    // Clients of OAuth look for the metadata in front of the issuer's path (RFC 8414 section 3.1).
    const path = url.pathname
      .replace(/^\/realms\/master(?=\/)/, base)
      .replace(
        /^(\/\.well-known\/)(?:oauth-authorization-server|openid-configuration)(\/realms\/[^/]+)$/u,
        "$2$1openid-configuration"
      )
    if (path.startsWith(`${adminBase}/`)) {
      const claims = await bearerClaims(request)
      const roles = claims && managementRoles(claims)
      return AdminApi.answer(request, response, { store, remembered, path: path.slice(adminBase.length), url, roles })
    }
    if (path === "/health/ready")
      return HttpBodies.json(response, leaving ? 503 : 200, { status: leaving ? "DOWN" : "UP" })
    if (path === `${base}${protocol}/userinfo`) return userinfo(request, response)
    if (path.startsWith(`${base}/interaction/`) && provider !== undefined)
      return pages?.interactions.answer(provider, request, response, path)
    const [, upstream] = /^\/broker\/([a-z0-9-]+)\/endpoint$/u.exec(path.slice(base.length)) ?? []
    if (upstream !== undefined && pages !== undefined) {
      const page = await pages.upstreams.pageOf(upstream, url.searchParams)
      if (page !== undefined) return HttpBodies.redirect(response, page)
      failed(request, response)()
      return
    }
    if (pages?.account !== undefined && provider !== undefined) {
      if (path === `${base}/${Pages.scriptPath}`) return HttpBodies.script(response, passkeyScript)
      if (path === `${base}/account` || path === `${base}/account/in`)
        return pages.account.answer({ provider, request, response }, path.slice(`${base}/account`.length))
    }
    if (!path.startsWith(`${base}/`) || oidc === undefined)
      return HttpBodies.json(response, 404, { error: "Realm does not exist" })
    if (options.state !== undefined && begins.test(path.slice(base.length))) {
      const from = addressBlock(request.socket.remoteAddress ?? "")
      const { allowed, retryAfter } = begun.take(from, Scheduler.monotonicMillis())
      if (!allowed) return tooMany(request, response, retryAfter)
    }
    // The registration form of Keycloak is the sign-in form here.
    const rewritten = path.replace(`${protocol}/registrations`, `${protocol}/auth`)
    Object.assign(request, {
      originalUrl: `${rewritten}${url.search}`,
      url: `${rewritten.slice(base.length)}${url.search}`
    })
    await oidc(request, response)
  }

  const tooMany = (request: IncomingMessage, response: ServerResponse, retryAfter: number) => {
    const texts = textsFor(undefined, request.headers["accept-language"])
    response.setHeader("retry-after", String(retryAfter))
    const body = Pages.sentence(texts, texts.failed, texts.tooManySignIns)
    HttpBodies.html(response, 429, RealmProvider.contentSecurityPolicy, body)
  }

  const failed = (request: IncomingMessage, response: ServerResponse) => () => {
    if (response.headersSent) return response.destroy()
    const texts = textsFor(undefined, request.headers["accept-language"])
    const body = Pages.sentence(texts, texts.failed, texts.notOpen)
    return HttpBodies.html(response, 400, RealmProvider.contentSecurityPolicy, body)
  }

  const server = Http.server((request, response) => void route(request, response).catch(failed(request, response)))
  options.prepare?.(server)
  const port = await listen(server, options.host, options.port)
  origin = options.publicUrl ?? `http://${options.host === "127.0.0.1" ? "localhost" : options.host}:${port}`
  const challenges = store.state.passkeys && new PasskeyChallenges(origin, store.state.records)
  const upstreams = new Upstreams(options.upstreams ?? [], store.state.records, `${origin}${base}`)
  pages = {
    upstreams,
    interactions: new Interactions(options, store, attempts, challenges, upstreams),
    account: options.state === undefined ? undefined : new AccountPages(store, challenges)
  }
  if (pages.account !== undefined) await store.declareClient(Account.client(`${origin}${base}`))
  /** With the keys of now. */
  const begin = () => {
    keys = publicKeys(store)
    provider = RealmProvider.make(`${origin}${base}`, options, store, attempts, remembered)
    provider.proxy = options.publicUrl !== undefined
    oidc = provider.callback()
  }
  begin()
  return {
    issuer: `${origin}${base}`,
    origin,
    port,
    store,
    rotate: async () => {
      if (await store.rotate()) begin()
    },
    leave: () => {
      leaving = true
    },
    close: (graceMillis = 0) =>
      new Promise((resolve) => {
        const cut = Scheduler.setTimeout(() => server.closeAllConnections(), graceMillis)
        server.close(() => {
          Scheduler.clearTimeout(cut)
          resolve()
        })
      })
  }
}
