/**
 * The part of Keycloak's admin REST that service accounts and gate users need: clients, their secrets, and users.
 * Statuses and bodies are Keycloak's. Callers need the role `manage-clients` or `manage-users` of `realm-management`.
 */
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import { Entropy } from "@catenet/platform/Entropy"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as HttpBodies from "./HttpBodies.ts"
import * as Passwords from "./Passwords.ts"
import type { Remembered } from "./ProviderAdapter.ts"
import type { RealmClient, RealmUser } from "./Realm.ts"
import { newSecret, type RealmStore } from "./RealmStore.ts"

interface Call {
  readonly store: RealmStore
  readonly remembered: Remembered
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly parameter: string
  /** What follows it in the path. */
  readonly more: string
  readonly body: Readonly<Record<string, unknown>>
}

interface Route {
  readonly method: string
  readonly path: RegExp
  readonly role: string
  readonly run: (call: Call) => void | Promise<void>
}

const representation = ({ deviceGrantEnabled, managementRoles: _roles, secret: _secret, ...client }: RealmClient) => ({
  ...client,
  protocol: "openid-connect",
  clientAuthenticatorType: "client-secret",
  attributes: { "oauth2.device.authorization.grant.enabled": String(deviceGrantEnabled) }
})

const userRepresentation = ({ passwordHash: _hash, managementRoles: _roles, ...user }: RealmUser) => ({
  ...user,
  enabled: true
})

const text = (value: unknown, otherwise: string) => (typeof value === "string" ? value : otherwise)
const texts = (value: unknown) =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : []

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** The audience that a mapper of Keycloak's puts into the access tokens of a client. */
const audienceOf = (mappers: unknown): string | undefined => {
  for (const mapper of Array.isArray(mappers) ? mappers.filter(isRecord) : []) {
    const { config, protocolMapper } = mapper
    const audience = isRecord(config) ? config["included.custom.audience"] : undefined
    if (protocolMapper === "oidc-audience-mapper" && typeof audience === "string") return audience
  }
  return undefined
}

const notFound = (call: Call, error: string) => HttpBodies.json(call.response, 404, { error })
const created = (call: Call, id: string) => {
  call.response.writeHead(201, { location: `${call.url.origin}${call.url.pathname}/${id}` }).end()
}

const createClient = async (call: Call) => {
  const { body, store } = call
  const clientId = text(body["clientId"], "")
  if (clientId === "") return HttpBodies.json(call.response, 400, { errorMessage: "Client id is missing" })
  if ((await store.refresh(clientId)) !== undefined)
    return HttpBodies.json(call.response, 409, { errorMessage: `Client ${clientId} already exists` })
  const publicClient = body["publicClient"] === true
  const audience = audienceOf(body["protocolMappers"])
  const client: RealmClient = {
    id: Entropy.randomUUID(),
    clientId,
    name: text(body["name"], ""),
    enabled: body["enabled"] !== false,
    publicClient,
    ...(publicClient ? {} : { secret: text(body["secret"], newSecret()) }),
    standardFlowEnabled: body["standardFlowEnabled"] !== false,
    directAccessGrantsEnabled: body["directAccessGrantsEnabled"] === true,
    serviceAccountsEnabled: body["serviceAccountsEnabled"] === true,
    deviceGrantEnabled: false,
    redirectUris: texts(body["redirectUris"]),
    postLogoutRedirectUris: [],
    managementRoles: [],
    ...(audience === undefined ? {} : { audience })
  }
  await store.putClient(client)
  created(call, client.id)
}

const withClient = (run: (call: Call, client: RealmClient) => void | Promise<void>) => async (call: Call) => {
  const client = await call.store.clientById(call.parameter)
  return client === undefined ? notFound(call, "Could not find client") : run(call, client)
}

const createUser = async (call: Call) => {
  const email = lowerAscii(text(call.body["email"], text(call.body["username"], "")))
  if (email === "") return HttpBodies.json(call.response, 400, { errorMessage: "User name is missing" })
  if ((await call.store.userBySignIn(email)) !== undefined)
    return HttpBodies.json(call.response, 409, { errorMessage: "User exists with same email" })
  const id = Entropy.randomUUID()
  const emailVerified = call.body["emailVerified"] === true
  await call.store.putUser({ id, username: email, email, emailVerified, name: email, managementRoles: [] })
  created(call, id)
}

const resetPassword = async (call: Call) => {
  const user = await call.store.user(call.parameter)
  if (user === undefined) return notFound(call, "User not found")
  await call.store.putUser({ ...user, passwordHash: Passwords.hash(text(call.body["value"], "")) })
  call.response.writeHead(204).end()
}

const routes: ReadonlyArray<Route> = [
  { method: "POST", path: /^\/clients$/, role: "manage-clients", run: createClient },
  {
    method: "GET",
    path: /^\/clients$/,
    role: "manage-clients",
    run: async ({ response, store, url }) => {
      const clientId = url.searchParams.get("clientId")
      const found = (await store.clients()).filter((client) => clientId === null || client.clientId === clientId)
      HttpBodies.json(response, 200, found.map(representation))
    }
  },
  {
    method: "GET",
    path: /^\/clients\/([^/]+)$/,
    role: "manage-clients",
    run: withClient((call, client) => HttpBodies.json(call.response, 200, representation(client)))
  },
  {
    method: "DELETE",
    path: /^\/clients\/([^/]+)$/,
    role: "manage-clients",
    run: withClient(async (call, client) => {
      await call.store.deleteClient(client)
      call.response.writeHead(204).end()
    })
  },
  {
    method: "GET",
    path: /^\/clients\/([^/]+)\/client-secret$/,
    role: "manage-clients",
    run: withClient((call, client) => HttpBodies.json(call.response, 200, { type: "secret", value: client.secret }))
  },
  {
    method: "POST",
    path: /^\/clients\/([^/]+)\/client-secret$/,
    role: "manage-clients",
    run: withClient(async (call, client) => {
      const secret = newSecret()
      await call.store.putClient({ ...client, secret })
      HttpBodies.json(call.response, 200, { type: "secret", value: secret })
    })
  },
  {
    method: "GET",
    path: /^\/users$/,
    role: "manage-users",
    run: async ({ response, store, url }) => {
      const user = await store.userBySignIn(url.searchParams.get("email") ?? url.searchParams.get("username") ?? "")
      HttpBodies.json(response, 200, user === undefined ? [] : [userRepresentation(user)])
    }
  },
  { method: "POST", path: /^\/users$/, role: "manage-users", run: createUser },
  { method: "PUT", path: /^\/users\/([^/]+)\/reset-password$/, role: "manage-users", run: resetPassword },
  {
    method: "GET",
    path: /^\/users\/([^/]+)\/consents$/,
    role: "manage-users",
    run: async ({ parameter, remembered, response }) => {
      const consents = (await remembered.consents(parameter)).map(({ at, clientId, clientName, resources }) => ({
        clientId,
        clientName,
        grantedClientScopes: [],
        createdDate: at * 1000,
        lastUpdatedDate: at * 1000,
        resources
      }))
      HttpBodies.json(response, 200, consents)
    }
  },
  {
    method: "DELETE",
    path: /^\/users\/([^/]+)\/consents\/(.+)$/,
    role: "manage-users",
    run: async (call) => {
      const { more, parameter, remembered, response } = call
      if (!(await remembered.revoke(parameter, decodeURIComponent(more))))
        return notFound(call, "Consent nor offline token not found")
      response.writeHead(204).end()
    }
  }
]

/** Answers a request below `/admin/realms/<realm>`; `path` is what follows. `roles` are the caller's, absent: no valid token. */
export const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  options: {
    readonly store: RealmStore
    readonly remembered: Remembered
    readonly path: string
    readonly url: URL
    readonly roles: ReadonlyArray<string> | undefined
  }
): Promise<void> => {
  if (options.roles === undefined) return HttpBodies.json(response, 401, { error: "HTTP 401 Unauthorized" })
  for (const route of routes) {
    const match = route.path.exec(options.path)
    if (match === null || route.method !== request.method) continue
    if (!options.roles.includes(route.role)) return HttpBodies.json(response, 403, { error: "HTTP 403 Forbidden" })
    const body = await HttpBodies.readJson(request)
    if (body === undefined) return HttpBodies.json(response, 400, { error: "The body is not a JSON object" })
    const { remembered, store, url } = options
    const [, parameter = "", more = ""] = match
    return route.run({ store, remembered, request, response, url, parameter, more, body })
  }
  return HttpBodies.json(response, 404, { error: "HTTP 404 Not Found" })
}
