/** Every variable that the edge reads, in the order of the guide and of `--help`. */
import { defaultDifficulty, maxDifficulty } from "@catenet/crypto/ProofOfWork"
import { AdminUrl, EdgeId } from "@catenet/domain/edges/EdgeNode"
import { address as anyAddress, networks, parseAddress, url as anyUrl } from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import { secretHex } from "@catenet/platform/SecretParser"
import { defaulted, optional, required } from "@catenet/platform/Variable"
import { normalHost } from "@catenet/wire/frames/HostName"
import { Option, Schema } from "effect"
import { cap, channelVariables, off, whole } from "./ChannelVariables.ts"
import { portVariables } from "./PortVariables.ts"
import { maxAutomatic, maxProcesses } from "./ProcessCount.ts"

const address = Parser.quoted(Parser.described(anyAddress, { example: "127.0.0.1:8443" }))
const url = Parser.quoted(Parser.described(anyUrl, { example: "http://127.0.0.1:8090" }))
const host = Parser.quoted(Parser.make("a host name", normalHost, { example: "portal.example.net" }))
const flag = Parser.flagUnless(...off)

const someProcesses = Parser.whole(1, maxProcesses)
const processes = Parser.quoted(
  Parser.make<number | "auto">(
    `auto or ${someProcesses.expected}`,
    (text) => (text === "auto" ? text : someProcesses.parse(text)),
    { remedy: "set it to something like auto" }
  )
)

const readEdgeId = Schema.decodeUnknownOption(EdgeId)
const edgeId = Parser.make(
  "1 to 64 letters, digits, dots, underscores and hyphens",
  (text) => Option.getOrUndefined(readEdgeId(text)),
  { example: "edge-1" }
)

const readAdminUrl = Schema.decodeUnknownOption(AdminUrl)
/** Kept as it is written, since heartbeats sign the text. */
const adminUrl = Parser.make(
  "an http or https URL of a host and perhaps a path",
  (text) => Option.getOrUndefined(readAdminUrl(text)),
  { example: "http://10.0.0.7:9100" }
)

/** Kept as it is written, since heartbeats sign the text. */
const publicAddress = Parser.make(
  "a host and a port",
  (text) => (text === "unknown" || parseAddress(text) !== undefined ? text : undefined),
  { example: "edge-1.example.net:4433" }
)

const chainOf = (name: string) => `Certificate chain of CT_EDGE_${name}_HOST, PEM.`
const keyOf = (name: string) => `Private key of CT_EDGE_${name}_CERT, PEM.`

export const variables = {
  frontDoor: optional("CT_FRONT_DOOR", address, "Address at which visitors connect."),
  mesh: defaulted("CT_EDGE_LISTEN", address, "0.0.0.0:4433", "Address at which agents register."),
  httpRedirect: optional("CT_EDGE_HTTP_REDIRECT", address, "Address of a listener that redirects http to https."),
  certOut: required(
    "CT_EDGE_CERT_OUT",
    Parser.writablePath,
    "File for the root certificate of the mesh port; its key is stored in the same folder.",
    {
      remedy:
        "set it to the file where the edge publishes its root certificate, for example /var/lib/catenet/edge-cert.der"
    }
  ),
  controlPlane: optional(
    "CT_EDGE_CP_URL",
    url,
    "Base URL of the control plane, from which tunnels are loaded; if unset, the edge has no tunnels after a restart."
  ),
  adminToken: optional(
    "CT_EDGE_ADMIN_TOKEN",
    secretHex,
    "Admin token, the same as CT_CP_EDGE_ADMIN_TOKEN of the control plane."
  ),
  admin: optional("CT_EDGE_ADMIN_LISTEN", address, "Address of the admin API."),
  adminUrl: optional(
    "CT_EDGE_ADMIN_URL",
    Parser.quoted(adminUrl),
    "Base URL at which the control plane reaches the admin API, if there are several edges; sent with heartbeats."
  ),
  heartbeatSeconds: whole("CT_EDGE_HEARTBEAT_SECS", 1, 60, 30, "Seconds between heartbeats to the control plane."),
  metrics: optional("CT_EDGE_METRICS_LISTEN", address, "Address of /metrics and /healthz."),
  edgeId: defaulted(
    "CT_EDGE_ID",
    Parser.quoted(edgeId),
    "primary",
    "Name of this edge; must be unique if there are several edges."
  ),
  publicAddress: defaulted(
    "CT_EDGE_PUBLIC_ADDR",
    Parser.quoted(publicAddress),
    "unknown",
    "Address at which other edges and agents reach this edge."
  ),
  wildcardCert: optional(
    "CT_EDGE_WILDCARD_CERT",
    Parser.path,
    "Certificate chain for hosts without a certificate of their own, PEM."
  ),
  wildcardKey: optional("CT_EDGE_WILDCARD_KEY", Parser.path, keyOf("WILDCARD")),
  platformCertificates: defaulted(
    "CT_EDGE_PLATFORM_CERTIFICATES",
    flag,
    "0",
    "Fetch the certificates that the control plane orders (CT_CP_PLATFORM_ACME), for the platform's names without one in a file and for edge-terminated (gelb) hosts.",
    { needs: "CT_EDGE_CP_URL" }
  ),
  portalHost: optional("CT_EDGE_PORTAL_HOST", host, "Host name of the portal, which the control plane serves."),
  portalAddress: optional("CT_CP_PROXY_ADDR", address, "Address of the control plane, for the portal.", {
    needs: "CT_EDGE_PORTAL_HOST"
  }),
  portalCert: optional(
    "CT_EDGE_PORTAL_CERT",
    Parser.path,
    "Certificate chain of the portal, PEM; if unset, TLS is passed through."
  ),
  portalKey: optional("CT_EDGE_PORTAL_KEY", Parser.path, keyOf("PORTAL")),
  portalProxyProtocol: defaulted(
    "CT_EDGE_PORTAL_PROXY_PROTOCOL",
    flag,
    "0",
    "Send the visitor's address to the control plane (PROXY v2); CT_CP_TRUSTED_PROXIES there must contain this edge."
  ),
  authHost: optional("CT_EDGE_AUTH_HOST", host, "Host name of the identity provider."),
  authAddress: optional("CT_EDGE_AUTH_ADDR", address, "Address of the identity provider.", {
    needs: "CT_EDGE_AUTH_HOST"
  }),
  authCert: optional("CT_EDGE_AUTH_CERT", Parser.path, chainOf("AUTH")),
  authKey: optional("CT_EDGE_AUTH_KEY", Parser.path, keyOf("AUTH")),
  authProxyProtocol: defaulted(
    "CT_EDGE_AUTH_PROXY_PROTOCOL",
    flag,
    "0",
    "Send the visitor's address to the identity provider (PROXY v2); CT_IDP_TRUSTED_PROXIES there must contain this edge."
  ),
  masqueHost: optional("CT_EDGE_MASQUE_HOST", host, "Host name of a MASQUE proxy."),
  masqueAddress: optional("CT_EDGE_MASQUE_ADDR", address, "Address of the MASQUE proxy.", {
    needs: "CT_EDGE_MASQUE_HOST"
  }),
  masqueCert: optional("CT_EDGE_MASQUE_CERT", Parser.path, chainOf("MASQUE")),
  masqueKey: optional("CT_EDGE_MASQUE_KEY", Parser.path, keyOf("MASQUE")),
  adminUiHost: optional("CT_EDGE_ADMIN_UI_HOST", host, "Host name of the operators' web interface."),
  adminUiAddress: optional("CT_EDGE_ADMIN_UI_ADDR", address, "Address of the operators' web interface.", {
    needs: "CT_EDGE_ADMIN_UI_HOST"
  }),
  adminUiCert: optional("CT_EDGE_ADMIN_UI_CERT", Parser.path, chainOf("ADMIN_UI")),
  adminUiKey: optional("CT_EDGE_ADMIN_UI_KEY", Parser.path, keyOf("ADMIN_UI")),
  ...portVariables,
  browser: optional("CT_EDGE_BROWSER_LISTEN", address, "Address of a listener for visitors of tunnels only."),
  processes: defaulted(
    "CT_EDGE_PROCESSES",
    processes,
    "1",
    `Number of processes that share the public listeners; auto for one per core, at most ${maxAutomatic}.`
  ),
  quic: defaulted(
    "CT_EDGE_QUIC",
    Parser.literal("off", "on", "auto"),
    "auto",
    "QUIC on the UDP ports of CT_EDGE_LISTEN and of the two channel listeners: with `auto` if its runtime is " +
      "installed; `on` also logs a warning if it is not."
  ),
  requireAgentProof: defaulted(
    "CT_EDGE_REQUIRE_AGENT_PROOF",
    flag,
    "0",
    "Refuse agents that cannot prove a key (byte protocol) for tunnels with enrolled agents."
  ),
  requireHostAuth: optional(
    "CT_EDGE_REQUIRE_HOST_AUTH",
    flag,
    "Allow agents to serve only hosts that the control plane has assigned to them.",
    { standard: "on if a listener for visitors is set" }
  ),
  connections: cap("CT_EDGE_MAX_CONNECTIONS", 8_192, "Maximum number of connections."),
  connectionsPerAddress: cap(
    "CT_EDGE_MAX_CONNECTIONS_PER_IP",
    2_048,
    "Maximum number of connections from one address, or one /64 of IPv6."
  ),
  connectionRatePerAddress: whole(
    "CT_EDGE_MAX_CONNECTION_RATE_PER_IP",
    0,
    1_000_000,
    100,
    "New connections a second from one address, or one /64 of IPv6; connections over the limit are queued; 0 for no limit."
  ),
  browserTunnels: cap("CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS", 4_096, "Maximum number of visitors' connections."),
  tunnelVisitors: cap(
    "CT_EDGE_MAX_VISITORS_PER_TUNNEL",
    2_048,
    "Maximum number of visitors' connections to one tunnel."
  ),
  agentConnections: cap("CT_EDGE_MAX_TCP_AGENT_CONNECTIONS", 4_096, "Maximum number of agents' connections."),
  ...channelVariables,
  deliverWaitMillis: whole(
    "CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS",
    0,
    60_000,
    3_000,
    "Milliseconds that a visitor waits for an agent."
  ),
  trustedProxies: optional(
    "CT_EDGE_TRUSTED_PROXIES",
    networks,
    "Proxies in front of the edge whose X-Forwarded-For and Forwarded it extends instead of replacing; edge-terminated (gelb) hosts only."
  ),
  visitorIdleSeconds: whole(
    "CT_EDGE_VISITOR_IDLE_SECS",
    1,
    86_400,
    75,
    "Seconds after which a connection of an edge-terminated (gelb) host without a running request is closed."
  ),
  requestHeadSeconds: whole(
    "CT_EDGE_REQUEST_HEAD_SECS",
    1,
    600,
    15,
    "Seconds within which the head of a visitor's request must be complete."
  ),
  relayIdleSeconds: whole(
    "CT_EDGE_RELAY_IDLE_SECS",
    0,
    604_800,
    3_600,
    "Seconds after which an idle relay is closed; 0 for never."
  ),
  cutAtWindowClose: defaulted(
    "CT_EDGE_CUT_AT_WINDOW_CLOSE",
    flag,
    "1",
    "Close running connections when an access window closes."
  ),
  shutdownGraceSeconds: whole(
    "CT_EDGE_SHUTDOWN_GRACE_SECS",
    0,
    3_600,
    30,
    "Seconds that connections have to finish after SIGTERM."
  ),
  drainDelaySeconds: whole(
    "CT_EDGE_DRAIN_DELAY_SECS",
    0,
    600,
    0,
    "Seconds after SIGTERM during which the edge still accepts connections but answers /healthz with 503, for load balancers."
  ),
  proofOfWorkBits: whole(
    "CT_EDGE_POW_DIFFICULTY",
    0,
    maxDifficulty,
    defaultDifficulty,
    "Difficulty of the proof of work for mesh clients, in leading zero bits."
  ),
  rendezvousPerMinute: whole(
    "CT_EDGE_RENDEZVOUS_MAX_PER_MIN",
    1,
    1_000_000,
    600,
    "Mesh clients admitted per minute for one tunnel."
  ),
  meshRelay: defaulted(
    "CT_EDGE_MESH_RELAY_ENABLED",
    flag,
    "0",
    "Forward visitors to the edge at which their tunnel is registered."
  ),
  meshRelayPrivate: defaulted("CT_EDGE_MESH_RELAY_PRIVATE", flag, "0", "Allow private addresses of other edges."),
  history: defaulted("CT_EDGE_TUNNEL_HISTORY", flag, "1", "Record sessions and uptime."),
  historyPath: optional("CT_EDGE_TUNNEL_HISTORY_PATH", Parser.writablePath, "SQLite file of the history.", {
    standard: "in the folder of CT_EDGE_CERT_OUT"
  }),
  historyRetentionSeconds: whole(
    "CT_EDGE_TUNNEL_HISTORY_RETENTION_SECS",
    3_600,
    1_000_000_000,
    90 * 86_400,
    "Seconds for which the history is kept; the default is 90 days."
  ),
  receipts: defaulted("CT_EDGE_RECEIPTS", flag, "0", "Write signed receipts of every session."),
  auditPath: optional(
    "CT_EDGE_AUDIT_LOG_PATH",
    Parser.writablePath,
    "SQLite file that records who connected to which tunnel or channel, and when."
  ),
  auditRetentionSeconds: whole(
    "CT_EDGE_AUDIT_LOG_RETENTION_SECS",
    60,
    1_000_000_000,
    604_800,
    "Seconds for which the audit log is kept; the default is 7 days."
  ),
  trace: defaulted("CT_EDGE_TRACE", flag, "0", "Log at trace level.")
} as const
