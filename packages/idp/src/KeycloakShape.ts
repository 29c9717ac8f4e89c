/** What makes the provider look like a Keycloak realm: its paths, the claims of its users, the form of its access tokens. */
import type { ResourceServer } from "oidc-provider"
import type { RealmUser } from "./Realm.ts"
import type { RealmOptions } from "./RealmOptions.ts"
import type { RealmStore } from "./RealmStore.ts"

export const protocol = "/protocol/openid-connect"
export const scopes = "openid profile email offline_access"

/** Names the one resource server of the realm inside the provider, which wants an absolute URI (RFC 8707). */
export const resource = "urn:catenet:control-plane"

/** What an access token for a client is made for: the control plane, or the host of a tunnel, which `host` names. */
export const resourceServer = (
  options: RealmOptions,
  store: RealmStore,
  clientId: string,
  host?: string
): ResourceServer => ({
  scope: scopes,
  audience: host ?? store.client(clientId)?.audience ?? options.audience,
  accessTokenFormat: "jwt",
  accessTokenTTL: options.accessTokenSeconds ?? 300,
  jwt: { sign: { alg: "RS256" } }
})

/** The claims that describe a user, in tokens and at userinfo. */
export const userClaims = (user: RealmUser) => ({
  sub: user.id,
  preferred_username: user.username,
  name: user.name,
  email: user.email,
  email_verified: user.emailVerified
})
