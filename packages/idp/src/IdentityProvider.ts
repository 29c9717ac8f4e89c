/**
 * One realm on one port of loopback: `<origin>/realms/<realm>` is the issuer, `<origin>/admin/realms/<realm>` the admin
 * REST. For development and tests; it keeps sessions in memory and is not a place for other people's passwords.
 */
import { Http } from "@catenet/platform/Http"
import { Scheduler } from "@catenet/platform/Scheduler"
import { createLocalJWKSet, errors as joseErrors, type JWTPayload, jwtVerify } from "jose"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type Provider from "oidc-provider"
import * as AdminApi from "./AdminApi.ts"
import * as Applications from "./Applications.ts"
import * as HttpBodies from "./HttpBodies.ts"
import { protocol, resource, scopes, userClaims } from "./KeycloakShape.ts"
import * as MemoryAdapter from "./MemoryAdapter.ts"
import * as Pages from "./Pages.ts"
import * as RealmProvider from "./Provider.ts"
import type { RealmOptions } from "./Realm.ts"
import { RealmStore } from "./RealmStore.ts"
import { SignInAttempts } from "./SignInAttempts.ts"
import { textsFor } from "./Texts.ts"

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>

export interface IdentityProvider {
  readonly issuer: string
  readonly origin: string
  readonly port: number
  readonly store: RealmStore
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

const publicKeys = ({ signingKey: { kty, n, e, kid, alg, use } }: RealmStore) =>
  createLocalJWKSet({ keys: [{ kty, n, e, kid, alg, use }].map((key) => JSON.parse(JSON.stringify(key))) })

const managementRoles = (claims: JWTPayload): ReadonlyArray<string> => {
  const access = claims["resource_access"]
  const management = typeof access === "object" && access !== null ? Reflect.get(access, "realm-management") : undefined
  const roles: unknown =
    typeof management === "object" && management !== null ? Reflect.get(management, "roles") : undefined
  return Array.isArray(roles) ? roles.filter((role): role is string => typeof role === "string") : []
}

/**
 * Ends what another person signed in to in the same browser. The provider would do that by a page that posts itself, which
 * needs a script, and no script runs here.
 */
const makeRoom = async (provider: Provider, interaction: Interaction, accountId: string) => {
  const uid = interaction.session?.uid
  const session = uid === undefined ? undefined : await provider.Session.findByUid(uid)
  if (session?.accountId === undefined || session.accountId === accountId) return
  session.accountId = undefined
  session.authorizations = undefined
  await session.persist()
  // It would be compared with the session.
  interaction.session = undefined
  await interaction.persist()
}

/** Starts the realm. Rejects when the port is taken. */
export const start = async (options: RealmOptions): Promise<IdentityProvider> => {
  const store = await RealmStore.open(options)
  const attempts = new SignInAttempts(store)
  const remembered = MemoryAdapter.make(store)
  const keys = publicKeys(store)
  const base = `/realms/${options.realm}`
  const adminBase = `/admin/realms/${options.realm}`
  let origin = ""
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
    const user = claims?.sub === undefined ? undefined : store.user(claims.sub)
    if (user !== undefined) return HttpBodies.json(response, 200, userClaims(user))
    response.setHeader("www-authenticate", 'Bearer error="invalid_token"')
    HttpBodies.json(response, 401, { error: "invalid_token" })
  }

  /** Asks a person about an application, or passes on the answer. */
  const consent = async (
    request: IncomingMessage,
    response: ServerResponse,
    { params, session }: Interaction,
    form: URLSearchParams | undefined
  ) => {
    const clientId = String(params["client_id"])
    const user = store.user(session?.accountId ?? "")
    if (provider === undefined || user === undefined) return
    if (form?.get("answer") === "yes") {
      const grant = new provider.Grant({ clientId, accountId: user.id })
      grant.addOIDCScope(scopes)
      grant.addResourceScope(String(params["resource"] ?? resource), scopes)
      return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
    }
    if (form?.get("answer") === "no") {
      const denied = { error: "access_denied", error_description: "The person did not agree" }
      return provider.interactionFinished(request, response, denied, { mergeWithLastSubmission: false })
    }
    const texts = textsFor(params["ui_locales"], request.headers["accept-language"])
    const client = await provider.Client.find(clientId)
    const asked = Applications.requestOf(clientId, client?.clientName, params)
    const body = Pages.consent(texts, {
      action: new URL(request.url ?? "/", origin).pathname,
      account: user.email,
      ...asked
    })
    HttpBodies.html(response, 200, RealmProvider.contentSecurityPolicy, body)
  }

  const interaction = async (request: IncomingMessage, response: ServerResponse, path: string) => {
    if (provider === undefined) return
    const begun = await provider.interactionDetails(request, response)
    const form = request.method === "POST" ? new URLSearchParams(await HttpBodies.readText(request)) : undefined
    if (begun.prompt.name === "consent") return consent(request, response, begun, form)
    const { remoteAddress } = request.socket
    const user =
      form && (await attempts.authenticate(remoteAddress, form.get("username") ?? "", form.get("password") ?? ""))
    const isRefused = user !== undefined && "retryAfter" in user
    if (user !== undefined && !isRefused) {
      await makeRoom(provider, begun, user.id)
      const login = { accountId: user.id, remember: true, amr: ["pwd"] }
      return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false })
    }
    const hint = begun.params["login_hint"]
    const name = form?.get("username") ?? (typeof hint === "string" ? hint : "")
    const texts = textsFor(begun.params["ui_locales"], request.headers["accept-language"])
    const problem = form === undefined ? undefined : isRefused ? texts.tooMany : texts.refused
    const body = Pages.signIn(texts, { action: path, name, problem })
    if (isRefused) response.setHeader("retry-after", String(user.retryAfter))
    const status = form === undefined ? 200 : isRefused ? 429 : 401
    HttpBodies.html(response, status, RealmProvider.contentSecurityPolicy, body)
  }

  /** What the provider would read of a proxy is ours to say, not a visitor's. */
  const behindTls = ({ headers }: IncomingMessage, publicUrl: string) => {
    const { host, protocol } = new URL(publicUrl)
    for (const name of Object.keys(headers)) if (name.startsWith("x-forwarded-")) Reflect.deleteProperty(headers, name)
    Object.assign(headers, { "x-forwarded-host": host, "x-forwarded-proto": protocol.slice(0, -1) })
  }

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (options.publicUrl !== undefined) behindTls(request, options.publicUrl)
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
    if (path.startsWith(`${base}/interaction/`)) return interaction(request, response, path)
    if (!path.startsWith(`${base}/`) || oidc === undefined)
      return HttpBodies.json(response, 404, { error: "Realm does not exist" })
    // The registration form of Keycloak is the sign-in form here.
    const rewritten = path.replace(`${protocol}/registrations`, `${protocol}/auth`)
    Object.assign(request, {
      originalUrl: `${rewritten}${url.search}`,
      url: `${rewritten.slice(base.length)}${url.search}`
    })
    await oidc(request, response)
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
  provider = RealmProvider.make(`${origin}${base}`, options, store, attempts, remembered)
  provider.proxy = options.publicUrl !== undefined
  oidc = provider.callback()
  return {
    issuer: `${origin}${base}`,
    origin,
    port,
    store,
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
