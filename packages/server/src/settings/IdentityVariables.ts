/** Variables of the identity provider: sign-in, access tokens, and its admin API for service accounts. */
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import { defaulted, optional } from "@catenet/platform/Variable"

/** The providers behind the identity provider that people may choose before they get there. */
export const socialProviders = ["google", "github", "gitlab"] as const
export type SocialProvider = (typeof socialProviders)[number]

const parser = Parser.listOf(
  Parser.literal(...socialProviders),
  "google, github or gitlab, separated by commas",
  "google,github"
)

/** Variables of the login gate of tunnels. */
export const gateVariables = {
  gateCookieDomain: optional(
    "CT_GATE_COOKIE_DOMAIN",
    Parser.text,
    "Zone of the tunnels' host names; if unset, visitors cannot sign in at login gates, and hosts with a gate are closed."
  ),
  gateHostsPort: defaulted(
    "CT_GATE_HOSTS_PORT",
    Parser.port,
    "443",
    "Port at which browsers reach the tunnels' host names; sign-ins and share links redirect to it."
  ),
  gateRedirectUri: optional(
    "CT_GATE_REDIRECT_URI",
    NetworkParser.url,
    "Redirect address that is registered for /gate/callback; the default is below the portal's origin."
  ),
  gateClientId: optional(
    "CT_GATE_CLIENT_ID",
    Parser.text,
    "Client id for visitors of login gates, so that their tokens have a separate audience; the default is the portal's client."
  ),
  gateClientSecret: optional(
    "CT_GATE_CLIENT_SECRET",
    SecretParser.secret,
    "Secret of that client; if unset, it is a public client."
  ),
  gateAccessAudience: optional(
    "CT_GATE_ACCESS_AUD",
    Parser.text,
    "Audience of the access tokens that /gate/check accepts and /me/* refuses; if unset, /gate/check accepts none."
  )
} as const

export const variables = {
  oidcIssuer: optional(
    "CT_OIDC_ISSUER",
    NetworkParser.urlText,
    "Realm address of the identity provider; if unset, /me/* is disabled."
  ),
  oidcAccessAudience: optional("CT_OIDC_ACCESS_AUD", Parser.text, "Audience that access tokens must carry."),
  oidcPublicKeyPath: optional(
    "CT_OIDC_PUBKEY_PATH",
    Parser.text,
    "PEM file with the only key that verifies access tokens; if set, no keys are fetched from the provider."
  ),
  oidcClientId: optional("CT_OIDC_CLIENT_ID", Parser.text, "Client id at the identity provider, for sign-in."),
  oidcClientSecret: optional(
    "CT_OIDC_CLIENT_SECRET",
    SecretParser.secret,
    "Secret of that client; if unset, it is a public client."
  ),
  oidcRedirectUri: optional(
    "CT_OIDC_REDIRECT_URI",
    NetworkParser.url,
    "Redirect address that is registered for /portal/callback; the default is below the portal's origin."
  ),
  socialProviders: optional(
    "CT_PORTAL_SOCIAL_PROVIDERS",
    parser,
    "Social sign-in providers with a button on the front page, separated by commas."
  ),
  allowedEmailDomains: optional(
    "CT_PORTAL_ALLOWED_EMAIL_DOMAINS",
    Parser.list,
    "E-mail domains whose accounts may use the platform, separated by commas; if unset, any."
  ),
  oidcAuthorizeUrl: optional(
    "CT_OIDC_AUTHORIZE_URL",
    NetworkParser.url,
    "Authorization endpoint, if it is not below the issuer."
  ),
  oidcTokenUrl: optional("CT_OIDC_TOKEN_URL", NetworkParser.url, "Token endpoint, if it is not below the issuer."),
  oidcKeysUrl: optional(
    "CT_OIDC_JWKS_URL",
    NetworkParser.url,
    "Address of the provider's keys, if it is not below the issuer."
  ),
  identityProviderUrl: optional(
    "KEYCLOAK_PUBLIC_URL",
    NetworkParser.url,
    "Address of the identity provider's admin REST API; if unset, there are no service accounts."
  ),
  oidcRealm: defaulted(
    "CT_OIDC_REALM",
    Parser.text,
    "ct-demo",
    "Realm in which clients for service accounts are created."
  ),
  adminClientId: optional(
    "CT_OIDC_ADMIN_CLIENT_ID",
    Parser.text,
    "Confidential client of that realm with the role manage-clients of realm-management."
  ),
  adminClientSecret: optional("CT_OIDC_ADMIN_CLIENT_SECRET", SecretParser.secret, "Secret of that client."),
  administrator: optional(
    "KC_ADMIN_USER",
    Parser.text,
    "Administrator of the identity provider, used if no client is set."
  ),
  administratorPassword: optional("KC_ADMIN_PASSWORD", SecretParser.secret, "Password of the administrator."),
  serviceAccountCleanupSeconds: defaulted(
    "CT_CP_SERVICE_ACCOUNT_TICK_SECS",
    Parser.whole(1, 3600),
    "15",
    "Seconds between cleanups of the clients of deleted service accounts."
  )
} as const
