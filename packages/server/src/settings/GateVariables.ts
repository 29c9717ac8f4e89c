/** Variables of the login gate of tunnels. */
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import { defaulted, optional } from "@catenet/platform/Variable"

export const variables = {
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
