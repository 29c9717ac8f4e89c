/**
 * Everything the control plane reads from its environment, once, at the start. Nothing else in this package looks at the
 * environment. Embedders give another `ConfigProvider`.
 */
import { maxPerAccount } from "@catenet/domain/values/Quotas"
import type { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import * as Variable from "@catenet/platform/Variable"
import * as VariableReader from "@catenet/platform/VariableReader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Context, Layer } from "effect"
import { IpNetwork } from "effect/net"
import * as Bridge from "./Bridge.ts"
import * as CertificateAuthorityVariables from "./CertificateAuthorityVariables.ts"
import * as DatabaseVariables from "./DatabaseVariables.ts"
import * as Dns from "./Dns.ts"
import * as LegalPages from "./LegalPages.ts"
import * as Mail from "./Mail.ts"
import * as ReleaseVariables from "./ReleaseVariables.ts"
import * as SocialProviders from "./SocialProviders.ts"

const { defaulted, optional } = Variable

/** As high as a limit of requests a minute can be set. */
const maxPerMinute = 1_000_000

/** Every variable of the control plane, in the order of the operations guide. */
export const variables = {
  listen: defaulted("CT_CONTROL_PLANE_LISTEN", NetworkParser.address, "127.0.0.1:8090", "Address of the HTTP service."),
  ...DatabaseVariables.variables,
  sealKeys: optional(
    "CT_CP_SEAL_KEY",
    SecretParser.secretKeys,
    "Keys under which secrets and addresses of alerts, stored grants, id tokens, ticket keys and pages of a sign-in are sealed in the database; the first seals, all open."
  ),
  shutdownGraceSeconds: defaulted(
    "CT_CP_SHUTDOWN_GRACE_SECS",
    Parser.whole(0, 3600),
    "30",
    "Seconds in which requests may finish after SIGTERM or SIGINT."
  ),
  drainDelaySeconds: defaulted(
    "CT_CP_DRAIN_DELAY_SECS",
    Parser.whole(0, 600),
    "0",
    "Seconds after SIGTERM or SIGINT in which the service still takes requests and says that it is not ready, for a load balancer to see."
  ),
  portalBaseUrl: defaulted(
    "CT_PORTAL_BASE_URL",
    NetworkParser.url,
    "https://localhost",
    "Public origin, used in links."
  ),
  agentsUrl: optional(
    "CT_CP_AGENTS_URL",
    NetworkParser.url,
    "Where agents reach the control plane, for install lines; without it the public origin."
  ),
  adminToken: optional(
    "CT_CP_EDGE_ADMIN_TOKEN",
    SecretParser.secretBytes,
    "Opens the admin routes, and is sent to the edge. Without it the admin routes are not there."
  ),
  operators: optional(
    "CT_CP_OPERATORS",
    Parser.list,
    "Accounts that see /operators, between commas: each by its subject or its verified e-mail address."
  ),
  edgeAdminUrl: optional("CT_CP_EDGE_ADMIN_URL", NetworkParser.url, "Admin interface of the edge."),
  edgeMetricsUrl: optional(
    "CT_CP_EDGE_METRICS_URL",
    NetworkParser.url,
    "Where the number of live tunnels is read from."
  ),
  edgeCertPath: optional("CT_CP_EDGE_CERT_PATH", Parser.text, "File of the mesh root certificate, served at /pki/ca."),
  edgeId: defaulted("CT_EDGE_ID", Parser.text, "primary", "Id of the edge that new tunnels are bound to."),
  meshEdgePort: defaulted("CT_CP_MESH_EDGE_PORT", Parser.port, "4433", "Port where agents reach the edge."),
  channelBrokerPort: optional(
    "CT_CP_CHANNEL_BROKER_PORT",
    Parser.port,
    "Port of the channel broker, where there is one."
  ),
  channelRelayPort: optional("CT_CP_CHANNEL_RELAY_PORT", Parser.port, "Port of the channel relay, where there is one."),
  channelRelayGatePort: optional(
    "CT_CP_CHANNEL_RELAY_GATE_PORT",
    Parser.port,
    "Port of the relay's gate, where there is one."
  ),
  oidcIssuer: optional(
    "CT_OIDC_ISSUER",
    NetworkParser.urlText,
    "Realm address of the identity provider. Without it, no /me/*."
  ),
  oidcAccessAudience: optional("CT_OIDC_ACCESS_AUD", Parser.text, "Audience that access tokens must carry."),
  oidcPublicKeyPath: optional(
    "CT_OIDC_PUBKEY_PATH",
    Parser.text,
    "PEM file with the one key that signs access tokens; then none is fetched."
  ),
  oidcClientId: optional("CT_OIDC_CLIENT_ID", Parser.text, "Our client at the provider, for signing people in."),
  oidcClientSecret: optional("CT_OIDC_CLIENT_SECRET", SecretParser.secret, "Its secret; without it a public client."),
  oidcRedirectUri: optional(
    "CT_OIDC_REDIRECT_URI",
    NetworkParser.url,
    "Address of /portal/callback as the provider knows it; by default that of the portal."
  ),
  socialProviders: optional(
    "CT_PORTAL_SOCIAL_PROVIDERS",
    SocialProviders.parser,
    "Providers behind the identity provider that the front page offers by a button of their own, between commas."
  ),
  allowedEmailDomains: optional(
    "CT_PORTAL_ALLOWED_EMAIL_DOMAINS",
    Parser.list,
    "Domains of the e-mail addresses of those who may call, by session or token, between commas; without it any."
  ),
  oidcAuthorizeUrl: optional(
    "CT_OIDC_AUTHORIZE_URL",
    NetworkParser.url,
    "Where sign-ins begin, when not below the issuer."
  ),
  oidcTokenUrl: optional(
    "CT_OIDC_TOKEN_URL",
    NetworkParser.url,
    "Where codes are exchanged, when not below the issuer."
  ),
  identityProviderUrl: optional(
    "KEYCLOAK_PUBLIC_URL",
    NetworkParser.url,
    "Address of the identity provider, for its admin REST. Without it there are no service accounts."
  ),
  oidcRealm: defaulted(
    "CT_OIDC_REALM",
    Parser.text,
    "ct-demo",
    "Realm in which clients for service accounts are made."
  ),
  adminClientId: optional(
    "CT_OIDC_ADMIN_CLIENT_ID",
    Parser.text,
    "Confidential client of that realm with the role manage-clients of realm-management."
  ),
  adminClientSecret: optional("CT_OIDC_ADMIN_CLIENT_SECRET", SecretParser.secret, "Its secret."),
  administrator: optional(
    "KC_ADMIN_USER",
    Parser.text,
    "Administrator of the identity provider, used when no client is given."
  ),
  administratorPassword: optional("KC_ADMIN_PASSWORD", SecretParser.secret, "The administrator's password."),
  serviceAccountCleanupSeconds: defaulted(
    "CT_CP_SERVICE_ACCOUNT_TICK_SECS",
    Parser.whole(1, 3600),
    "15",
    "How often clients of service accounts that were given up are looked for."
  ),
  hostnameZone: optional(
    "CT_CP_HOSTNAME_ZONE",
    Parser.text,
    "Zone in which tunnels get a hostname by themselves; without it that of the DNS back end, with CT_CP_DNS_EDGE_IP."
  ),
  reservedHostnames: optional(
    "CT_CP_RESERVED_HOSTNAMES",
    Parser.list,
    "Hostnames that no tunnel gets, between commas: your other services in the zone. Portal and issuer are among them."
  ),
  tunnelsPerAccount: defaulted(
    "CT_CP_TUNNELS_PER_ACCOUNT",
    Parser.whole(0, maxPerAccount),
    "10",
    "Tunnels that an account may have, unless an operator allowed it more."
  ),
  channelsPerAccount: defaulted(
    "CT_CP_CHANNELS_PER_ACCOUNT",
    Parser.whole(0, maxPerAccount),
    "100",
    "Channels that an account may have, unless an operator allowed it more."
  ),
  paymentWebhookSecret: optional(
    "CT_PAYMENT_WEBHOOK_SECRET",
    SecretParser.secret,
    "Shared with the payment provider. Without it every payment event is refused."
  ),
  acmeBrokerEnabled: defaulted(
    "CT_CP_ACME_BROKER_ENABLED",
    Parser.flag,
    "0",
    "Whether hostnames are offered certificates of their own."
  ),
  acmeBrokerTickSeconds: defaulted(
    "CT_CP_ACME_BROKER_TICK_SECS",
    Parser.whole(1, 86_400),
    "60",
    "How often certificate admission is swept."
  ),
  certificateAuthorities: CertificateAuthorityVariables.variable,
  auditRetentionDays: optional(
    "CT_CP_ADMIN_AUDIT_RETENTION_DAYS",
    Parser.whole(1, 36_500),
    "Days for which the audit log is kept; without it for ever."
  ),
  metricsToken: optional(
    "CT_CP_METRICS_TOKEN",
    SecretParser.secret,
    "Bearer token that /metrics wants; not served without it."
  ),
  ...LegalPages.variables,
  ...ReleaseVariables.variables,
  pgBin: optional("CT_CP_PG_BIN", Parser.text, "Folder of pg_dump and pg_restore; without it they are found on PATH."),
  ...Dns.variables,
  requestsPerMinute: defaulted(
    "CT_CP_REQUESTS_PER_MIN",
    Parser.whole(0, maxPerMinute),
    "6000",
    "Requests a minute that one caller may make on metered routes; 0 for no limit."
  ),
  trustedProxies: optional(
    "CT_CP_TRUSTED_PROXIES",
    NetworkParser.networks,
    "Proxies that say who the client is by PROXY v2, such as an edge. Their headers are not believed."
  ),
  forwardingProxies: optional(
    "CT_CP_FORWARDING_PROXIES",
    NetworkParser.networks,
    "HTTP proxies that write X-Forwarded-For or Forwarded on every request. None of CT_CP_TRUSTED_PROXIES is among them."
  ),
  alertIntervalSeconds: defaulted(
    "CT_CP_ALERT_TICK_SECS",
    Parser.whole(1, 3600),
    "60",
    "How often every tunnel is looked at, for alerts and notices."
  ),
  alertsLoopback: defaulted(
    "CT_CP_ALERTS_LOOPBACK",
    Parser.flag,
    "0",
    "Whether alerts to http://127.0.0.1, localhost and [::1] are delivered: to accounts, the ports of this machine."
  ),
  gateCookieDomain: optional(
    "CT_GATE_COOKIE_DOMAIN",
    Parser.text,
    "Zone of the tunnels' host names. Without it no visitor can sign in at a login gate, and gated hosts are closed."
  ),
  gateHostsPort: defaulted(
    "CT_GATE_HOSTS_PORT",
    Parser.port,
    "443",
    "Port at which browsers reach the tunnels' host names; sign-ins and share links lead back to it."
  ),
  gateRedirectUri: optional(
    "CT_GATE_REDIRECT_URI",
    NetworkParser.url,
    "Address of /gate/callback as the provider knows it; by default that of the portal."
  ),
  gateClientId: optional(
    "CT_GATE_CLIENT_ID",
    Parser.text,
    "Client at the provider by which visitors of gates sign in, so that their sign-ins have an audience of their own; by default that of the portal."
  ),
  gateClientSecret: optional("CT_GATE_CLIENT_SECRET", SecretParser.secret, "Its secret; without it a public client."),
  gateAccessAudience: optional(
    "CT_GATE_ACCESS_AUD",
    Parser.text,
    "Audience of access tokens that /gate/check takes, and /me/* refuses; without it /gate/check takes none."
  ),
  anonymousWritesPerMinute: defaulted(
    "CT_CP_UNAUTH_WRITE_PER_MIN",
    Parser.whole(0, maxPerMinute),
    "120",
    "Visitors' sign-ins, requests for access and uses of share links that one address may begin in a minute; 0 for no limit."
  ),
  ...Bridge.variables,
  outboxIntervalSeconds: defaulted(
    "CT_CP_OUTBOX_TICK_SECS",
    Parser.whole(1, 3600),
    "5",
    "How often undelivered calls to the edge are looked for."
  ),
  edgeCompareSeconds: defaulted(
    "CT_CP_EDGE_COMPARE_SECS",
    Parser.whole(1, 3600),
    "60",
    "How often an edge that does not restore by itself what it has missed is compared with what it is to serve."
  ),
  ...Mail.variables
} as const

/** Variables of other control planes, which have no effect here. */
const unused = {
  CT_CONTROL_PLANE_DB: "CT_CP_DATABASE_URL names the database",
  CT_PORTAL_SESSION_KEY: "sessions are kept in the database"
}

/**
 * A proxy that copies bytes passes on what its client wrote. So an address is that of a proxy that speaks PROXY or of one
 * that writes headers, never of both.
 */
const rules = ({ forwardingProxies = [], trustedProxies = [] }: VariableReader.PartialValues<typeof variables>) => {
  const parsed = (networks: ReadonlyArray<string>) => networks.map((network) => IpNetwork.fromStringUnsafe(network))
  const [forwarding, speaking] = [parsed(forwardingProxies), parsed(trustedProxies)]
  const isShared = forwarding.some((one) => speaking.some((other) => IpNetwork.overlaps(one, other)))
  return isShared
    ? [
        {
          variable: "CT_CP_FORWARDING_PROXIES",
          problem: "names addresses that CT_CP_TRUSTED_PROXIES names too",
          remedy:
            "name a proxy that speaks PROXY v2 in CT_CP_TRUSTED_PROXIES alone, and give any other an address of its own"
        }
      ]
    : []
}

type Values = VariableReader.Values<typeof variables>

/** The settings of one control plane. Their layers fail with every problem that an operator has to mend. */
export class Settings extends Context.Service<Settings, Values>()("server/settings/Settings") {
  static readonly read = VariableReader.read(variables, { rules, unused })
  /** Settings of a program that embeds the control plane: the values given, and the defaults of all others. */
  static readonly make = (given: Partial<Values>) => VariableReader.complete(variables, given)
  static readonly layerNoDeps = Layer.effect(this, this.read)
  static readonly layer: Layer.Layer<Settings, ConfigurationInvalid> = this.layerNoDeps.pipe(
    Layer.provide(NodeFileSystem.layer)
  )
  /** `make` as a layer. */
  static readonly layerOf = (given: Partial<Values>) => Layer.effect(this, this.make(given))
}
