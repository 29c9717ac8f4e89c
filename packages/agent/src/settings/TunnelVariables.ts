/** Variables of an agent that serves a tunnel, and of related commands. */
import { policies } from "@catenet/crypto/admission/KeyExchange"
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import { secret, secretHex } from "@catenet/platform/SecretParser"
import { asRequired, defaulted, optional, required } from "@catenet/platform/Variable"
import { normalServedHost } from "@catenet/wire/frames/HostName"
import { maxAgentIdBytes } from "@catenet/wire/frames/MuxRegister"
import * as CustomCa from "./CustomCa.ts"
import { baseUrl, hostPort, listenAddress } from "./HostPort.ts"
import * as McpVariables from "./McpVariables.ts"
import * as OriginAddress from "./OriginAddress.ts"
import { transports } from "./TunnelTransports.ts"

const token = Parser.described(secretHex, {
  expected: "a token of 64 hex characters",
  remedy: "copy all of it from the install page of the tunnel"
})

const hostname = Parser.make("a host name", normalServedHost, {
  remedy: "copy the name of the tunnel from the portal, without https:// and path"
})

const agentName = Parser.make(
  `a name of at most ${maxAgentIdBytes} bytes in one line`,
  (text) => (/\p{Cc}/u.test(text) || Buffer.byteLength(text) > maxAgentIdBytes ? undefined : text),
  { remedy: "shorten it, or unset it to have one generated" }
)

/** A switch that only `0`, `false` and nothing turn off; the text shows whether that was meant. */
const flag = Parser.make("anything but 0 and false", (text) => ({ isOn: !/^(?:0|false)$/i.test(text), text }))

/** A request target: printable, without a fragment, in one line. */
const requestPath = Parser.make(
  "a path with an optional query",
  (text) => (/^\/[\x21\x22\x24-\x7e]{0,1023}$/.test(text) ? text : undefined),
  { example: "/healthz" }
)

const count = Parser.whole(0, 4_294_967_295)
const lenient = { isLenient: true }

/** A port, 0 for any free one. */
const port = Parser.described(Parser.whole(0, 65_535), { expected: "a port" })

/** Beside the tunnel's configuration. */
export const standardStateDir = ".ct-agent-state"
const stateFolder = "Folder for the agent's identity and events."

const controlPlane = "Base URL of the control plane."

export const variables = {
  controlPlane: required("CT_AGENT_CP_URL", baseUrl, controlPlane, {
    remedy: "set it to the address of the control plane, like https://portal.example.org, or run ct-agent init"
  }),
  joinToken: optional("CT_AGENT_JOIN_TOKEN", token, "Single-use join token, needed for the first start only."),
  token: optional("CT_AGENT_TOKEN", token, "Routing token of the tunnel."),
  bootstrap: optional(
    "CT_BOOTSTRAP",
    secret,
    "Short-lived bootstrap token, redeemed once; replaces CT_AGENT_JOIN_TOKEN and CT_AGENT_TOKEN."
  ),
  hostname: optional("CT_AGENT_HOSTNAME", hostname, "Public host name that the tunnel serves."),
  origin: defaulted(
    "CT_AGENT_ORIGIN",
    OriginAddress.origin,
    "127.0.0.1:8080",
    "Address of the local service: `host:port`, `https://host:port` with TLS, `h2c://host:port` for HTTP/2 without TLS, " +
      "`unix:/path` of a socket, `file:path` of a folder, or `mcp:command` of a stdio MCP server, which the agent starts."
  ),
  ...McpVariables.variables,
  originCa: optional(
    "CT_AGENT_ORIGIN_CA",
    Parser.path,
    "File with the authorities that the certificate of an `https://` origin may be from, PEM.",
    { standard: "those of the system" }
  ),
  originInsecure: defaulted(
    "CT_AGENT_ORIGIN_INSECURE",
    Parser.flag,
    "0",
    "`1` accepts any certificate of an `https://` origin."
  ),
  originListing: defaulted(
    "CT_AGENT_ORIGIN_LISTING",
    Parser.flag,
    "0",
    "`1` lists folders of a `file:` origin that have no index.html."
  ),
  hostHeader: defaulted(
    "CT_AGENT_ORIGIN_HOST_HEADER",
    OriginAddress.hostHeader,
    "keep",
    "Host header that the origin gets: `keep` for the visitor's, `origin` for the origin's own address, or a name."
  ),
  protocol: defaulted("CT_AGENT_ORIGIN_PROTO", Parser.literal("tcp", "udp"), "tcp", "Protocol of the local service.", {
    isBlankRefused: true
  }),
  tls: defaulted(
    "CT_AGENT_ORIGIN_TLS",
    Parser.literal("passthrough", "terminate"),
    "passthrough",
    "Where TLS ends: `terminate` for the agent, which forwards plain text to the origin; `passthrough` for the " +
      "origin."
  ),
  proxyProtocol: defaulted(
    "CT_AGENT_ORIGIN_PROXY_PROTOCOL",
    Parser.literal("none", "v2"),
    "none",
    "`v2` sends a PROXY protocol header at the start of each origin connection."
  ),
  trustedProxies: optional(
    "CT_AGENT_TRUSTED_PROXIES",
    NetworkParser.networks,
    "Proxies through which visitors come, whose X-Forwarded-For and Forwarded the agent extends instead of replacing; only with `terminate`."
  ),
  healthPath: optional(
    "CT_AGENT_HEALTH_PATH",
    requestPath,
    "Path of the health check, requested by plain HTTP GET; 2xx and 3xx mean up.",
    { standard: "only a TCP connection is tested" }
  ),
  cardFile: optional(
    "CT_AGENT_CARD_FILE",
    Parser.path,
    "Agent card to serve at /.well-known/agent-card.json; only with `terminate`.",
    { standard: "the origin serves it" }
  ),
  certificate: optional("CT_AGENT_TLS_CERT", Parser.path, "Certificate chain for `terminate`, PEM.", {
    standard: "fullchain.pem in CT_ACME_CERT_OUT_DIR"
  }),
  key: optional("CT_AGENT_TLS_KEY", Parser.path, "Private key for `terminate`, PEM.", {
    standard: "privkey.pem in CT_ACME_CERT_OUT_DIR"
  }),
  mode: defaulted(
    "CT_AGENT_MODE",
    Parser.literal("browser", "mesh", "port"),
    "mesh",
    "Kind of tunnel: browser for visitors by host name, port for visitors at a public port, mesh for clients over Noise."
  ),
  edge: optional("CT_AGENT_EDGE", hostPort, "Address of the edge.", {
    standard: "the control plane's host and its mesh port"
  }),
  edgeCertificateUrl: optional(
    "CT_AGENT_EDGE_CERT_URL",
    baseUrl,
    "Base URL that serves the edge's root certificate at /pki/ca."
  ),
  edgeCertificate: optional(
    "CT_AGENT_EDGE_CERT",
    Parser.writablePath,
    "File in which the edge's root certificate is cached.",
    { standard: "/shared/edge-cert.der" }
  ),
  edgeCertificateWait: optional(
    "CT_AGENT_EDGE_CERT_WAIT_SECS",
    count,
    "Seconds to wait for the file CT_AGENT_EDGE_CERT.",
    {
      standard: "forever",
      ...lenient
    }
  ),
  edgeCertificateLog: defaulted(
    "CT_AGENT_EDGE_CERT_LOG_INTERVAL_SECS",
    count,
    "5",
    "Seconds between log messages while the file CT_AGENT_EDGE_CERT is missing.",
    lenient
  ),
  agentId: optional("CT_AGENT_ID", agentName, "Stable identity of this agent.", {
    standard: "generated at the first start"
  }),
  stateDir: optional("CT_AGENT_STATE_DIR", Parser.writablePath, stateFolder, { standard: standardStateDir }),
  capabilityOut: optional(
    "CT_AGENT_CAPABILITY_OUT",
    Parser.writablePath,
    "File to which the capability of a mesh tunnel is written.",
    { standard: "/shared/capability.bin" }
  ),
  originKey: optional("CT_AGENT_ORIGIN_KEY", Parser.path, "File with the origin's Noise key.", {
    standard: "a new key at each start"
  }),
  originKeyDir: optional(
    "CT_AGENT_ORIGIN_KEY_DIR",
    Parser.path,
    "Folder with retired origin keys that are still accepted."
  ),
  postQuantum: defaulted(
    "CT_AGENT_POST_QUANTUM",
    Parser.literal(...policies),
    "prefer",
    "Post-quantum key exchange (ML-KEM-768 beside X25519) between the agent of a mesh tunnel and `connect`: `prefer`, `require`, or `off`."
  ),
  onboardTimeoutSecs: optional(
    "CT_AGENT_ONBOARD_TIMEOUT_SECS",
    count,
    "Time limit of the onboarding request, in seconds.",
    lenient
  ),
  reconnectAttempts: optional(
    "CT_AGENT_RECONNECT_MAX_ATTEMPTS",
    count,
    "Number of connection attempts before giving up; unset or 0 for no limit.",
    lenient
  ),
  reconnectBase: defaulted(
    "CT_AGENT_RECONNECT_BASE_MS",
    count,
    "500",
    "First pause between attempts in milliseconds, at least 100.",
    lenient
  ),
  reconnectMax: defaulted(
    "CT_AGENT_RECONNECT_MAX_MS",
    count,
    "30000",
    "Longest pause between attempts in milliseconds.",
    lenient
  ),
  fallback443: optional("CT_AGENT_FALLBACK_443", flag, "Also try port 443 of the edge."),
  tcpOnly: optional("CT_AGENT_REGISTER_TCP_ONLY", flag, "Do not multiplex: use one connection for each client."),
  transports,
  framed: optional("CT_AGENT_FRAMED_FALLBACK", flag, "Keep idle streams alive if the edge does not multiplex."),
  poolSize: defaulted(
    "CT_AGENT_TCP_FALLBACK_POOL_SIZE",
    Parser.whole(1, 65_535),
    "6",
    "Number of parked connections if the edge does not multiplex."
  ),
  maxServing: defaulted(
    "CT_AGENT_TCP_FALLBACK_MAX_SERVING",
    Parser.whole(1, 65_535),
    "32",
    "Number of connections served at once in addition to the parked ones."
  ),
  directAdvertise: optional(
    "CT_AGENT_DIRECT_ADVERTISE",
    NetworkParser.ip,
    "Address at which mesh clients can reach this machine without the edge."
  ),
  directPort: defaulted("CT_AGENT_DIRECT_PORT", port, "0", "Port of the direct path; 0 for any free port."),
  policyMaxAge: defaulted(
    "CT_AGENT_POLICY_MAX_AGE_SECS",
    Parser.whole(60, 31_536_000),
    "86400",
    "Seconds for which a login is enforced by the last known policy while the control plane is away; then the host is closed. Only with `terminate`."
  ),
  metricsListen: optional(
    "CT_AGENT_METRICS_LISTEN",
    listenAddress,
    "Address of /metrics, /status, /healthz and /events."
  ),
  certificateFolder: optional(
    "CT_ACME_CERT_OUT_DIR",
    Parser.writablePath,
    "Folder for fullchain.pem and privkey.pem, which a serving agent keeps up to date."
  ),
  accountKey: optional(
    "CT_ACME_ACCOUNT_KEY_PATH",
    Parser.writablePath,
    "File with the key of the ACME accounts, DER.",
    { standard: "acme-account-key.der in CT_ACME_CERT_OUT_DIR" }
  ),
  authorityRoots: optional(
    "CT_ACME_CA_FILE",
    Parser.path,
    "Root certificates with which the ACME server is verified, PEM.",
    { standard: "the system's roots" }
  ),
  ...CustomCa.variables,
  reload: optional(
    "CT_ACME_RELOAD_CMD",
    Parser.text,
    "Shell command that runs after each issuance, for at most a minute."
  )
} as const

/** What `certificate` cannot do without. */
export const requiredCertificate = {
  token: asRequired(variables.token, { remedy: "copy it from the install page of the tunnel" }),
  hostname: asRequired(variables.hostname, { remedy: "set it to the host name of the tunnel that the portal shows" }),
  certificateFolder: asRequired(variables.certificateFolder, {
    meaning: "Folder of fullchain.pem and privkey.pem.",
    remedy: "set it to the folder where fullchain.pem and privkey.pem are to be"
  })
}

/** The folder, if it does not matter whether it was set. */
export const stateDir = defaulted("CT_AGENT_STATE_DIR", Parser.writablePath, standardStateDir, stateFolder)

/** The control plane where a command can do without. */
export const knownControlPlane = optional("CT_AGENT_CP_URL", baseUrl, controlPlane)
