/** The OpenID provider behind the realm, shaped like Keycloak's: paths, claims, and access tokens as signed JWTs. */
import { createHash } from "node:crypto"
import Provider, { type Configuration, interactionPolicy } from "oidc-provider"
import { protocol, resource, resourceServer, scopes, userClaims } from "./KeycloakShape.ts"
import * as MemoryAdapter from "./MemoryAdapter.ts"
import * as Pages from "./Pages.ts"
import * as PasswordGrant from "./PasswordGrant.ts"
import type { RealmOptions } from "./Realm.ts"
import type { RealmStore } from "./RealmStore.ts"

const managementAccess = (roles: ReadonlyArray<string>) =>
  roles.length === 0 ? {} : { resource_access: { "realm-management": { roles } } }

const accessTokenClaims = (store: RealmStore, clientId: string, accountId: string | undefined) => {
  const user = accountId === undefined ? undefined : store.user(accountId)
  if (user !== undefined) return { ...userClaims(user), ...managementAccess(user.managementRoles) }
  const client = store.client(clientId)
  return {
    sub: client?.id ?? clientId,
    preferred_username: `service-account-${clientId.toLowerCase()}`,
    ...managementAccess(client?.managementRoles ?? [])
  }
}

const styleHash = createHash("sha256").update(Pages.style).digest("base64")

/** Strict, for pages of ours; the provider's own scripts never run. */
export const contentSecurityPolicy = Pages.contentSecurityPolicy.replace("STYLE", styleHash)

const interactions = (realm: string): Configuration["interactions"] => {
  const policy = interactionPolicy.base()
  policy.remove("consent")
  return { policy, url: (_ctx, interaction) => `/realms/${realm}/interaction/${interaction.uid}` }
}

const deviceFlow: NonNullable<NonNullable<Configuration["features"]>["deviceFlow"]> = {
  enabled: true,
  userCodeInputSource: (ctx, form, _out, error) => {
    const text = error === undefined ? "Enter the code that your device shows." : "That code is not known. Try again."
    ctx.body = Pages.confirm("Connect a device", text, form, "op.deviceInputForm", "Continue")
  },
  userCodeConfirmSource: (ctx, form, client, _info, code) => {
    const text = `Let ${client.clientName ?? client.clientId} use your account? It shows the code ${code}.`
    ctx.body = Pages.confirm("Connect a device", text, form, "op.deviceConfirmForm", "Connect")
  },
  successSource: (ctx) => {
    ctx.body = Pages.sentence("Device connected", "You can close this page and go back to your device.")
  }
}

const configuration = (options: RealmOptions, store: RealmStore): Configuration => ({
  adapter: MemoryAdapter.make(store),
  jwks: { keys: [store.signingKey] },
  cookies: { keys: [store.cookieKey] },
  clientAuthMethods: ["client_secret_basic", "client_secret_post", "none"],
  responseTypes: ["code"],
  pkce: { required: () => false },
  scopes: scopes.split(" "),
  claims: { email: ["email", "email_verified"], profile: ["name", "preferred_username"] },
  conformIdTokenClaims: false,
  routes: {
    authorization: `${protocol}/auth`,
    token: `${protocol}/token`,
    jwks: `${protocol}/certs`,
    userinfo: `${protocol}/userinfo`,
    end_session: `${protocol}/logout`,
    device_authorization: `${protocol}/auth/device`,
    introspection: `${protocol}/token/introspect`,
    revocation: `${protocol}/revoke`,
    pushed_authorization_request: `${protocol}/ext/par/request`,
    code_verification: "/device"
  },
  interactions: interactions(options.realm),
  findAccount: (_ctx, id) => {
    const user = store.user(id)
    return user === undefined ? undefined : { accountId: id, claims: async () => userClaims(user) }
  },
  // No consent page: a sign-in grants a client of this realm what it asks for.
  loadExistingGrant: async (ctx) => {
    const { client, session } = ctx.oidc
    if (client === undefined || session?.accountId === undefined) return undefined
    const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId })
    grant.addOIDCScope(scopes)
    grant.addResourceScope(resource, scopes)
    await grant.save()
    return grant
  },
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
  formats: {
    customizers: {
      jwt: (_ctx, token, jwt) => {
        const accountId = "accountId" in token && typeof token.accountId === "string" ? token.accountId : undefined
        const clientId = token.clientId ?? ""
        jwt.header = { ...jwt.header, typ: "JWT" }
        Object.assign(jwt.payload, {
          typ: "Bearer",
          azp: clientId,
          realm_access: { roles: [`default-roles-${options.realm}`] },
          ...accessTokenClaims(store, clientId, accountId)
        })
      }
    }
  },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    userinfo: { enabled: false },
    deviceFlow,
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => {
        ctx.body = Pages.confirm("Sign out", "Do you want to sign out?", form, "op.logoutForm", "Sign out")
      },
      postLogoutSuccessSource: (ctx) => {
        ctx.body = Pages.sentence("Signed out", "You are signed out.")
      }
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, _indicator, client) => resourceServer(options, store, client.clientId)
    }
  },
  ttl: {
    AccessToken: options.accessTokenSeconds ?? 300,
    ClientCredentials: options.accessTokenSeconds ?? 300,
    IdToken: 300,
    RefreshToken: 30 * 86_400,
    Session: 36_000,
    Grant: 30 * 86_400,
    Interaction: 3600,
    DeviceCode: 600
  },
  renderError: (ctx, out) => {
    ctx.type = "html"
    ctx.body = Pages.sentence("This did not work", `${out.error}: ${out["error_description"] ?? "no further detail"}`)
  }
})

export const make = (issuer: string, options: RealmOptions, store: RealmStore): Provider => {
  const provider = new Provider(issuer, configuration(options, store))
  PasswordGrant.register(provider, options, store)
  provider.use(async (ctx, next) => {
    ctx.set("Content-Security-Policy", contentSecurityPolicy)
    ctx.set("X-Content-Type-Options", "nosniff")
    await next()
  })
  return provider
}
