/** The OpenID provider behind the realm, shaped like Keycloak's: paths, claims, and access tokens as signed JWTs. */
import { Entropy } from "@catenet/platform/Entropy"
import { createHash } from "node:crypto"
import Provider, { type Configuration, errors } from "oidc-provider"
import * as Applications from "./Applications.ts"
import { protocol, resource, resourceServer, scopes, userClaims } from "./KeycloakShape.ts"
import * as Pages from "./Pages.ts"
import * as PasswordGrant from "./PasswordGrant.ts"
import type * as ProviderAdapter from "./ProviderAdapter.ts"
import type { RealmOptions } from "./RealmOptions.ts"
import type { RealmStore } from "./RealmStore.ts"
import type { SignInAttempts } from "./SignInAttempts.ts"
import { textsFor } from "./Texts.ts"

const managementAccess = (roles: ReadonlyArray<string>) =>
  roles.length === 0 ? {} : { resource_access: { "realm-management": { roles } } }

const accessTokenClaims = async (store: RealmStore, clientId: string, accountId: string | undefined) => {
  const user = accountId === undefined ? undefined : await store.user(accountId)
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

/** The same for pages with the script of passkeys. */
export const scriptedPolicy = `${contentSecurityPolicy}; script-src 'self'`

const interactions = (realm: string, store: RealmStore): Configuration["interactions"] => ({
  policy: Applications.consented((clientId) => store.client(clientId) !== undefined),
  url: (_ctx, interaction) => `/realms/${realm}/interaction/${interaction.uid}`
})

/** Tokens for the host of a tunnel say who somebody is, and open nothing at this provider. */
const isForHost = (aud: unknown) => typeof aud === "string" && Applications.isHost(aud)

/** The context of a request, as far as its language goes. */
interface Asked {
  readonly query: Readonly<Record<string, unknown>>
  readonly req: { readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>> }
}

const textsOf = ({ query, req }: Asked) => textsFor(query["ui_locales"], req.headers["accept-language"]?.toString())

/** The form of a page that the provider would have a script post, which no policy of ours lets run. */
const selfPosting = (body: unknown): string | undefined => {
  if (typeof body !== "string" || !body.includes("document.forms[0].submit()")) return undefined
  const [, action, inputs] = /<form method="post" action="([^"]*)">\s*((?:<input [^>]*>\s*)*)/u.exec(body) ?? []
  return `<form id="op.form" method="post" action="${action}">${inputs}</form>`
}

const deviceFlow: NonNullable<NonNullable<Configuration["features"]>["deviceFlow"]> = {
  enabled: true,
  userCodeInputSource: (ctx, form, _out, error) => {
    const texts = textsOf(ctx)
    const text = error === undefined ? texts.deviceCode : texts.deviceCodeUnknown
    ctx.body = Pages.confirm(texts, {
      title: texts.device,
      text,
      form,
      formId: "op.deviceInputForm",
      button: texts.next
    })
  },
  userCodeConfirmSource: (ctx, form, client, _info, code) => {
    const texts = textsOf(ctx)
    const text = texts.deviceAsks(client.clientName ?? client.clientId, code)
    ctx.body = Pages.confirm(texts, {
      title: texts.device,
      text,
      form,
      formId: "op.deviceConfirmForm",
      button: texts.deviceConnect
    })
  },
  successSource: (ctx) => {
    const texts = textsOf(ctx)
    ctx.body = Pages.sentence(texts, texts.deviceConnected, texts.deviceDone)
  }
}

const configuration = (
  options: RealmOptions,
  store: RealmStore,
  { adapter }: ProviderAdapter.Remembered
): Configuration => ({
  adapter,
  // Its redirects may lead to a program on the person's machine; the realm's own clients say otherwise.
  clientDefaults: { application_type: "native" },
  clientBasedCORS: (_ctx, origin, client) =>
    store.client(client.clientId) === undefined &&
    client.redirectUris?.some((uri) => URL.canParse(uri) && new URL(uri).origin === origin) === true,
  extraParams: ["kc_idp_hint"],
  jwks: { keys: [...store.keys.signing] },
  cookies: {
    keys: [...store.keys.cookies],
    // A tunnel is a neighbour of the provider's name, and could set a cookie for both; none of this name (RFC 6265bis 4.1.3.2).
    ...(options.publicUrl?.startsWith("https:") === true ? { names: { session: "__Host-catenet_session" } } : {})
  },
  clientAuthMethods: ["client_secret_basic", "client_secret_post", "none"],
  responseTypes: ["code"],
  pkce: { required: (_ctx, { clientId }) => store.client(clientId) === undefined },
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
    registration: "/clients-registrations/openid-connect",
    pushed_authorization_request: `${protocol}/ext/par/request`,
    code_verification: "/device"
  },
  interactions: interactions(options.realm, store),
  findAccount: async (_ctx, id) => {
    const user = await store.user(id)
    return user === undefined ? undefined : { accountId: id, claims: async () => userClaims(user) }
  },
  // A sign-in grants a client of this realm what it asks for; for others a person has agreed just now.
  loadExistingGrant: async (ctx) => {
    const { client, result, session } = ctx.oidc
    if (client === undefined || session?.accountId === undefined) return undefined
    const agreed = result?.consent?.grantId
    if (agreed !== undefined) return ctx.oidc.provider.Grant.find(agreed)
    if (store.client(client.clientId) === undefined) return undefined
    const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId })
    grant.addOIDCScope(scopes)
    grant.addResourceScope(resource, scopes)
    await grant.save()
    return grant
  },
  // An application on another machine does not end with the session of the browser in which somebody agreed to it.
  expiresWithSession: async (_ctx, { clientId, scopes }) =>
    store.client(clientId ?? "") !== undefined && !scopes.has("offline_access"),
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
  formats: {
    customizers: {
      jwt: async (_ctx, token, jwt) => {
        const accountId = "accountId" in token && typeof token.accountId === "string" ? token.accountId : undefined
        const clientId = token.clientId ?? ""
        jwt.header = { ...jwt.header, typ: "JWT" }
        Object.assign(jwt.payload, {
          typ: "Bearer",
          azp: clientId,
          realm_access: { roles: [`default-roles-${options.realm}`] },
          ...(await accessTokenClaims(store, clientId, accountId))
        })
        if (isForHost(jwt.payload["aud"])) Reflect.deleteProperty(jwt.payload, "resource_access")
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
        const texts = textsOf(ctx)
        ctx.body = Pages.confirm(texts, {
          title: texts.signOut,
          text: texts.signOutAsk,
          form,
          formId: "op.logoutForm",
          button: texts.signOut,
          // Without it the provider ends the session with this client alone, and the next sign-in asks for nothing.
          field: { name: "logout", value: "yes" }
        })
      },
      postLogoutSuccessSource: (ctx) => {
        const texts = textsOf(ctx)
        ctx.body = Pages.sentence(texts, texts.signedOut, texts.signedOutText)
      }
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_ctx, client) => {
        if (store.client(client.clientId) !== undefined) return resource
        throw new errors.InvalidTarget("resource must name the address that the token is for")
      },
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, indicator, { clientId }) => {
        if (indicator === resource && store.client(clientId) !== undefined)
          return resourceServer(options, store, clientId)
        if (Applications.isHost(indicator)) return resourceServer(options, store, clientId, indicator)
        throw new errors.InvalidTarget("resource must be the https address of a host, without a path")
      }
    },
    registration: {
      enabled: true,
      issueRegistrationAccessToken: false,
      idFactory: () => `app-${Entropy.randomUUID()}`
    },
    clientIdMetadataDocument: {
      enabled: true,
      ack: "draft-02",
      allowClient: (_ctx, client) => Applications.isModest({ grant_types: client.grantTypes ?? [] })
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
    const reason = [out.error, out["error_description"]].filter((part) => part !== undefined).join(": ")
    ctx.body = Pages.sentence(textsOf(ctx), textsOf(ctx).failed, reason)
  }
})

export const make = (
  issuer: string,
  options: RealmOptions,
  store: RealmStore,
  attempts: SignInAttempts,
  remembered: ProviderAdapter.Remembered
): Provider => {
  const provider = new Provider(issuer, configuration(options, store, remembered))
  PasswordGrant.register(provider, options, store, attempts)
  provider.use(async (ctx, next) => {
    ctx.set("Content-Security-Policy", contentSecurityPolicy)
    ctx.set("X-Content-Type-Options", "nosniff")
    ctx.set("Referrer-Policy", "no-referrer")
    await next()
    const form = selfPosting(ctx.body)
    if (form !== undefined)
      ctx.body = Pages.confirm(textsOf(ctx), {
        title: textsOf(ctx).goOn,
        text: textsOf(ctx).goOnText,
        form,
        formId: "op.form",
        button: textsOf(ctx).next
      })
  })
  return provider
}
