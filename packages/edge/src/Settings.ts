/**
 * Everything the edge reads from its environment, once, at the start (data-plane 1.5). Variables that are ours and not
 * in the list there: `CT_EDGE_MAX_CONNECTIONS_PER_IP`, `CT_EDGE_MAX_VISITORS_PER_TUNNEL`, `CT_EDGE_RELAY_IDLE_SECS`, `CT_EDGE_CUT_AT_WINDOW_CLOSE`,
 * `CT_EDGE_REQUIRE_AGENT_PROOF`, `CT_EDGE_MESH_RELAY_PRIVATE`, `CT_EDGE_PROCESSES`, `CT_EDGE_REQUEST_HEAD_SECS`.
 */
import { AdminUrl, EdgeId } from "@catenet/domain/edges/EdgeNode"
import { defaultDifficulty, maxDifficulty } from "@catenet/crypto/ProofOfWork"
import { normalHost } from "@catenet/wire/frames/HostName"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { type Address, parse } from "./settings/Address.ts"
import * as Variable from "./settings/Variable.ts"
import { type Name, names } from "./settings/Variables.ts"

/** Paths of a PEM certificate chain and its key. */
export interface PemPair {
  readonly certificate: string
  readonly key: string
}

/** A host name of the platform itself whose connections go to an upstream instead of to an agent. */
export interface TerminateHost {
  readonly host: string
  readonly upstream: Address
  /** Absent: the connection is passed to the upstream as it came. */
  readonly pair: PemPair | undefined
  /** Each connection to the upstream begins with who the visitor is (PROXY protocol, version 2). */
  readonly proxyProtocol: boolean
}

export interface Caps {
  readonly connections: number
  readonly connectionsPerAddress: number
  readonly browserTunnels: number
  /** Of them, at one tunnel. */
  readonly tunnelVisitors: number
  readonly agentConnections: number
}

export interface SettingsShape {
  readonly edgeId: string
  readonly publicAddress: string
  readonly mesh: Address
  readonly frontDoor: Address | undefined
  /** Visitors of tunnels and nobody else. */
  readonly browser: Address | undefined
  readonly httpRedirect: Address | undefined
  readonly admin: Address | undefined
  /** Where the control plane reaches the admin interface; absent where its own settings say that. */
  readonly adminUrl: AdminUrl | undefined
  readonly heartbeatSeconds: number
  readonly metrics: Address | undefined
  readonly adminToken: Redacted.Redacted | undefined
  readonly controlPlane: URL | undefined
  /** The root is published here; keys live beside it. */
  readonly certOut: string
  readonly wildcard: PemPair | undefined
  readonly portal: TerminateHost | undefined
  readonly otherHosts: ReadonlyArray<TerminateHost>
  /** How many processes share the public listeners. */
  readonly processes: number
  /** All variables as they were given, for the other processes; absent when there is one. */
  readonly given: Redacted.Redacted<Readonly<Record<string, string>>> | undefined
  readonly requireHostAuth: boolean
  /** Tunnels with enrolled agents take no agent that cannot prove its key. */
  readonly requireAgentProof: boolean
  readonly deliverWaitMillis: number
  /** How long a visitor may take for the head of one request. */
  readonly requestHeadSeconds: number
  readonly relayIdleSeconds: number
  readonly cutAtWindowClose: boolean
  readonly shutdownGraceSeconds: number
  readonly proofOfWorkBits: number
  readonly rendezvousPerMinute: number
  readonly meshRelay: boolean
  /** Peers may have addresses that are not globally reachable: edges in one private network. */
  readonly meshRelayPrivate: boolean
  readonly history: boolean
  /** Absent: `tunnel-history.sqlite` beside the CA key. */
  readonly historyPath: string | undefined
  readonly historyRetentionSeconds: number
  readonly receipts: boolean
  /** Absent: who connects is not written down. */
  readonly auditPath: string | undefined
  readonly auditRetentionSeconds: number
  readonly caps: Caps
}

const address = (variable: Name) => Variable.parsed(variable, "a host and a port", "127.0.0.1:8443", parse)

const pemPair = Effect.fn(function* (certificateVariable: Name, keyVariable: Name) {
  const certificate = yield* Variable.text(certificateVariable)
  const key = yield* Variable.text(keyVariable)
  if (certificate === undefined && key === undefined) return undefined
  const remedy = "set both to the two halves of one PEM pair, or neither"
  return {
    certificate: yield* Variable.required(certificateVariable, Effect.succeed(certificate), remedy),
    key: yield* Variable.required(keyVariable, Effect.succeed(key), remedy)
  }
})

type Prefix = "CT_EDGE_PORTAL" | "CT_EDGE_AUTH" | "CT_EDGE_MASQUE" | "CT_EDGE_ADMIN_UI"

const terminateHost = Effect.fn(function* (prefix: Prefix, upstreamVariable: Name, proxyVariable?: Name) {
  const host = yield* Variable.parsed(`${prefix}_HOST`, "a host name", "portal.example.net", normalHost)
  if (host === undefined) return undefined
  const upstream = yield* Variable.required(
    upstreamVariable,
    address(upstreamVariable),
    `set it to the address that serves ${host}`
  )
  const pair = yield* pemPair(`${prefix}_CERT`, `${prefix}_KEY`)
  const proxyProtocol = proxyVariable === undefined ? false : yield* Variable.flag(proxyVariable, false)
  return { host, upstream, pair, proxyProtocol } satisfies TerminateHost
})

const url = (variable: Name) =>
  Variable.parsed(variable, "an http or https URL", "http://127.0.0.1:8090", (value) => {
    const parsed = URL.canParse(value) ? new URL(value) : undefined
    return parsed?.protocol === "http:" || parsed?.protocol === "https:" ? parsed : undefined
  })

const readEdgeId = Schema.decodeUnknownOption(EdgeId)

const edgeId = Variable.parsed(
  "CT_EDGE_ID",
  "1 to 64 letters, digits, dots, underscores and hyphens",
  "edge-1",
  (value) => Option.getOrUndefined(readEdgeId(value))
)

const readAdminUrl = Schema.decodeUnknownOption(AdminUrl)

/** Kept as it is written, since heartbeats sign the text. */
const adminUrl = Variable.parsed(
  "CT_EDGE_ADMIN_URL",
  "an http or https URL of a host and perhaps a path",
  "http://10.0.0.7:9100",
  (value) => Option.getOrUndefined(readAdminUrl(value))
)

/** Kept as it is written, since heartbeats sign the text. */
const publicAddress = Variable.parsed("CT_EDGE_PUBLIC_ADDR", "a host and a port", "edge-1.example.net:4433", (value) =>
  value === "unknown" || parse(value) !== undefined ? value : undefined
)

const given = Effect.gen(function* () {
  const texts: Record<string, string> = {}
  for (const variable of names) {
    const text = yield* Variable.text(variable)
    if (text !== undefined) texts[variable] = text
  }
  return texts
})

const read = Effect.gen(function* () {
  const adminToken = yield* Variable.secretHex("CT_EDGE_ADMIN_TOKEN")
  const frontDoor = yield* address("CT_FRONT_DOOR")
  const browser = yield* address("CT_EDGE_BROWSER_LISTEN")
  const admin = yield* address("CT_EDGE_ADMIN_LISTEN")
  const controlPlane = yield* url("CT_EDGE_CP_URL")
  if (adminToken === undefined && (admin !== undefined || controlPlane !== undefined)) {
    return yield* new Variable.Misconfigured({
      variable: "CT_EDGE_ADMIN_TOKEN",
      problem: "is not set although the control plane or the admin interface is",
      remedy: "set it to the same 64 hex digits as CT_CP_EDGE_ADMIN_TOKEN of the control plane"
    })
  }
  const history = yield* Variable.flag("CT_EDGE_TUNNEL_HISTORY", true)
  const receipts = yield* Variable.flag("CT_EDGE_RECEIPTS", false)
  if (receipts && !history) {
    return yield* new Variable.Misconfigured({
      variable: "CT_EDGE_RECEIPTS",
      problem: "is on although CT_EDGE_TUNNEL_HISTORY is off, and receipts are kept with the history",
      remedy: "turn both on, or receipts off"
    })
  }
  const processes = yield* Variable.count("CT_EDGE_PROCESSES", 1, 64, 1)
  /** What is bounded for the edge, for one of its processes. */
  const share = (bound: number) => Math.ceil(bound / processes)
  const hosts = yield* Effect.all([
    terminateHost("CT_EDGE_AUTH", "CT_EDGE_AUTH_ADDR", "CT_EDGE_AUTH_PROXY_PROTOCOL"),
    terminateHost("CT_EDGE_MASQUE", "CT_EDGE_MASQUE_ADDR"),
    terminateHost("CT_EDGE_ADMIN_UI", "CT_EDGE_ADMIN_UI_ADDR")
  ])
  const settings: SettingsShape = {
    edgeId: (yield* edgeId) ?? "primary",
    publicAddress: (yield* publicAddress) ?? "unknown",
    mesh: (yield* address("CT_EDGE_LISTEN")) ?? { host: "0.0.0.0", port: 4433 },
    frontDoor,
    browser,
    httpRedirect: yield* address("CT_EDGE_HTTP_REDIRECT"),
    admin,
    adminUrl: yield* adminUrl,
    heartbeatSeconds: yield* Variable.count("CT_EDGE_HEARTBEAT_SECS", 1, 60, 30),
    metrics: yield* address("CT_EDGE_METRICS_LISTEN"),
    adminToken,
    controlPlane,
    certOut: yield* Variable.required(
      "CT_EDGE_CERT_OUT",
      Variable.text("CT_EDGE_CERT_OUT"),
      "set it to the file where the edge publishes its root certificate, for example /var/lib/catenet/edge-cert.der"
    ),
    wildcard: yield* pemPair("CT_EDGE_WILDCARD_CERT", "CT_EDGE_WILDCARD_KEY"),
    portal: yield* terminateHost("CT_EDGE_PORTAL", "CT_CP_PROXY_ADDR", "CT_EDGE_PORTAL_PROXY_PROTOCOL"),
    otherHosts: hosts.filter((host) => host !== undefined),
    processes,
    given: processes === 1 ? undefined : Redacted.make(yield* given),
    requireAgentProof: yield* Variable.flag("CT_EDGE_REQUIRE_AGENT_PROOF", false),
    requireHostAuth: yield* Variable.flag("CT_EDGE_REQUIRE_HOST_AUTH", (frontDoor ?? browser) !== undefined),
    deliverWaitMillis: yield* Variable.count("CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS", 0, 60_000, 3_000),
    requestHeadSeconds: yield* Variable.count("CT_EDGE_REQUEST_HEAD_SECS", 1, 600, 15),
    relayIdleSeconds: yield* Variable.count("CT_EDGE_RELAY_IDLE_SECS", 0, 604_800, 3_600),
    cutAtWindowClose: yield* Variable.flag("CT_EDGE_CUT_AT_WINDOW_CLOSE", true),
    shutdownGraceSeconds: yield* Variable.count("CT_EDGE_SHUTDOWN_GRACE_SECS", 0, 3_600, 30),
    proofOfWorkBits: yield* Variable.count("CT_EDGE_POW_DIFFICULTY", 0, maxDifficulty, defaultDifficulty),
    rendezvousPerMinute: share(yield* Variable.count("CT_EDGE_RENDEZVOUS_MAX_PER_MIN", 1, 1_000_000, 600)),
    meshRelay: yield* Variable.flag("CT_EDGE_MESH_RELAY_ENABLED", false),
    meshRelayPrivate: yield* Variable.flag("CT_EDGE_MESH_RELAY_PRIVATE", false),
    history,
    historyPath: yield* Variable.text("CT_EDGE_TUNNEL_HISTORY_PATH"),
    historyRetentionSeconds: yield* Variable.count(
      "CT_EDGE_TUNNEL_HISTORY_RETENTION_SECS",
      3_600,
      1_000_000_000,
      90 * 86_400
    ),
    receipts,
    auditPath: yield* Variable.text("CT_EDGE_AUDIT_LOG_PATH"),
    auditRetentionSeconds: yield* Variable.count("CT_EDGE_AUDIT_LOG_RETENTION_SECS", 60, 1_000_000_000, 604_800),
    caps: {
      connections: share(yield* Variable.cap("CT_EDGE_MAX_CONNECTIONS", 8_192)),
      connectionsPerAddress: share(yield* Variable.cap("CT_EDGE_MAX_CONNECTIONS_PER_IP", 2_048)),
      browserTunnels: share(yield* Variable.cap("CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS", 4_096)),
      tunnelVisitors: share(yield* Variable.cap("CT_EDGE_MAX_VISITORS_PER_TUNNEL", 2_048)),
      agentConnections: share(yield* Variable.cap("CT_EDGE_MAX_TCP_AGENT_CONNECTIONS", 4_096))
    }
  }
  return settings
})

export class Settings extends Context.Service<Settings, SettingsShape>()("edge/Settings") {
  static readonly layer = Layer.effect(Settings, read)
}
