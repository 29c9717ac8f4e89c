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
import * as CertificateAuthorityVariables from "./CertificateVariables.ts"
import * as DatabaseVariables from "./DatabaseVariables.ts"
import * as IdentityVariables from "./IdentityVariables.ts"
import * as LegalPages from "./PortalVariables.ts"

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
    "Keys that encrypt secrets in the database: alert secrets and addresses, stored grants, id tokens, ticket keys, keys of certificates and sign-in targets. The first key encrypts, all decrypt."
  ),
  shutdownGraceSeconds: defaulted(
    "CT_CP_SHUTDOWN_GRACE_SECS",
    Parser.whole(0, 3600),
    "30",
    "Seconds that requests have to finish after SIGTERM or SIGINT."
  ),
  drainDelaySeconds: defaulted(
    "CT_CP_DRAIN_DELAY_SECS",
    Parser.whole(0, 600),
    "0",
    "Seconds after SIGTERM or SIGINT during which the service still accepts requests but reports that it is not ready, for load balancers."
  ),
  portalBaseUrl: defaulted(
    "CT_PORTAL_BASE_URL",
    NetworkParser.url,
    "https://localhost",
    "Public origin of the portal, used in links."
  ),
  agentsUrl: optional(
    "CT_CP_AGENTS_URL",
    NetworkParser.url,
    "URL at which agents reach the control plane, for install lines; the default is the public origin."
  ),
  adminToken: optional(
    "CT_CP_EDGE_ADMIN_TOKEN",
    SecretParser.secretBytes,
    "Token for the admin API, also sent to edges; if unset, the admin API is disabled."
  ),
  operators: optional(
    "CT_CP_OPERATORS",
    Parser.list,
    "Accounts that may use /operators, separated by commas: subjects or verified e-mail addresses."
  ),
  edgeAdminUrl: optional("CT_CP_EDGE_ADMIN_URL", NetworkParser.url, "URL of the edge's admin API."),
  edgeMetricsUrl: optional(
    "CT_CP_EDGE_METRICS_URL",
    NetworkParser.url,
    "URL from which the number of live tunnels is read."
  ),
  edgeCertPath: optional(
    "CT_CP_EDGE_CERT_PATH",
    Parser.text,
    "File with the mesh root certificate, served at /pki/ca."
  ),
  edgeId: defaulted("CT_EDGE_ID", Parser.text, "primary", "Id of the edge to which new tunnels are bound."),
  meshEdgePort: defaulted("CT_CP_MESH_EDGE_PORT", Parser.port, "4433", "Port at which agents reach the edge."),
  channelBrokerPort: optional("CT_CP_CHANNEL_BROKER_PORT", Parser.port, "Port of the channel broker, if there is one."),
  channelRelayPort: optional("CT_CP_CHANNEL_RELAY_PORT", Parser.port, "Port of the channel relay, if there is one."),
  channelRelayGatePort: optional(
    "CT_CP_CHANNEL_RELAY_GATE_PORT",
    Parser.port,
    "Port of the relay gate, if there is one."
  ),
  ...IdentityVariables.variables,
  hostnameZone: optional(
    "CT_CP_HOSTNAME_ZONE",
    Parser.text,
    "Zone in which tunnels get a host name automatically; with CT_CP_DNS_EDGE_IP, the default is the zone of the DNS back end."
  ),
  reservedHostnames: optional(
    "CT_CP_RESERVED_HOSTNAMES",
    Parser.list,
    "Host names that no tunnel may have, separated by commas, such as other services in the zone; portal and issuer are always included."
  ),
  tunnelsPerAccount: defaulted(
    "CT_CP_TUNNELS_PER_ACCOUNT",
    Parser.whole(0, maxPerAccount),
    "10",
    "Number of tunnels that an account may have, unless an operator has set another limit."
  ),
  portsPerAccount: defaulted(
    "CT_CP_PORTS_PER_ACCOUNT",
    Parser.whole(0, maxPerAccount),
    "5",
    "Number of tunnels with a public TCP or UDP port that an account may have, unless an operator has set another limit; its tunnels are counted as well."
  ),
  hostsPerAccount: defaulted(
    "CT_CP_HOSTS_PER_ACCOUNT",
    Parser.whole(0, maxPerAccount),
    "1000",
    "Number of tunnels with a host name of its own that an account may have, unless an operator has set another limit; its tunnels are counted as well."
  ),
  channelsPerAccount: defaulted(
    "CT_CP_CHANNELS_PER_ACCOUNT",
    Parser.whole(0, maxPerAccount),
    "100",
    "Number of channels that an account may have, unless an operator has set another limit."
  ),
  rulesPerAccount: defaulted(
    "CT_CP_RULES_PER_ACCOUNT",
    Parser.whole(0, maxPerAccount),
    "500",
    "Number of rules that an account may have over all of its tunnels, unless an operator has set another limit."
  ),
  paymentWebhookSecret: optional(
    "CT_PAYMENT_WEBHOOK_SECRET",
    SecretParser.secret,
    "Secret shared with the payment provider; if unset, payment events are refused and the portal shows no credits."
  ),
  acmeBrokerEnabled: defaulted(
    "CT_CP_ACME_BROKER_ENABLED",
    Parser.flag,
    "0",
    "Offer host names certificates of their own."
  ),
  acmeBrokerTickSeconds: defaulted(
    "CT_CP_ACME_BROKER_TICK_SECS",
    Parser.whole(1, 86_400),
    "60",
    "Seconds between runs of the certificate queue."
  ),
  certificateAuthorities: CertificateAuthorityVariables.variable,
  ...CertificateAuthorityVariables.platformVariables,
  auditRetentionDays: optional(
    "CT_CP_ADMIN_AUDIT_RETENTION_DAYS",
    Parser.whole(1, 36_500),
    "Days for which the audit log is kept; if unset, forever."
  ),
  metricsToken: optional(
    "CT_CP_METRICS_TOKEN",
    SecretParser.secret,
    "Bearer token required for /metrics; if unset, metrics are not served."
  ),
  ...LegalPages.variables,
  ...LegalPages.releaseVariables,
  pgBin: optional("CT_CP_PG_BIN", Parser.text, "Folder of pg_dump and pg_restore; if unset, they are found on PATH."),
  ...CertificateAuthorityVariables.variables,
  requestsPerMinute: defaulted(
    "CT_CP_REQUESTS_PER_MIN",
    Parser.whole(0, maxPerMinute),
    "6000",
    "Requests per minute that one caller may make on rate-limited routes; 0 for no limit."
  ),
  ...LegalPages.proxiesVariables,
  alertIntervalSeconds: defaulted(
    "CT_CP_ALERT_TICK_SECS",
    Parser.whole(1, 3600),
    "60",
    "Seconds between checks of every tunnel for alerts and notices."
  ),
  alertsLoopback: defaulted(
    "CT_CP_ALERTS_LOOPBACK",
    Parser.flag,
    "0",
    "Deliver alerts to http://127.0.0.1, localhost and [::1], which opens the ports of this machine to accounts."
  ),
  ...IdentityVariables.gateVariables,
  anonymousWritesPerMinute: defaulted(
    "CT_CP_UNAUTH_WRITE_PER_MIN",
    Parser.whole(0, maxPerMinute),
    "120",
    "Sign-ins of visitors, access requests and uses of share links per minute from one address; 0 for no limit."
  ),
  ...LegalPages.bridgeVariables,
  outboxIntervalSeconds: defaulted(
    "CT_CP_OUTBOX_TICK_SECS",
    Parser.whole(1, 3600),
    "5",
    "Seconds between retries of undelivered calls to edges."
  ),
  edgeCompareSeconds: defaulted(
    "CT_CP_EDGE_COMPARE_SECS",
    Parser.whole(1, 3600),
    "60",
    "Seconds between comparisons with an edge that does not restore missed orders itself."
  ),
  ...LegalPages.mailVariables
} as const

/** Variables of other control planes, which have no effect here. */
const unused = {
  CT_CONTROL_PLANE_DB: "CT_CP_DATABASE_URL names the database",
  CT_PORTAL_SESSION_KEY: "sessions are kept in the database"
}

type Values = VariableReader.Values<typeof variables>

/** The settings of one control plane. Their layers fail with every problem that an operator has to mend. */
export class Settings extends Context.Service<Settings, Values>()("server/settings/Settings") {
  static readonly read = VariableReader.read(variables, { rules: LegalPages.rules, unused })
  /** Settings of a program that embeds the control plane: the values given, and the defaults of all others. */
  static readonly make = (given: Partial<Values>) => VariableReader.complete(variables, given)
  static readonly layerNoDeps = Layer.effect(this, this.read)
  static readonly layer: Layer.Layer<Settings, ConfigurationInvalid> = this.layerNoDeps.pipe(
    Layer.provide(NodeFileSystem.layer)
  )
  /** `make` as a layer. */
  static readonly layerOf = (given: Partial<Values>) => Layer.effect(this, this.make(given))
}
