/**
 * The variables of all commands, one record per command, in the order of the guide and of `--help`. A variable in none of them is
 * not read.
 */
import { Subject, TopologyId } from "@catenet/domain/values/Ids"
import * as Parser from "@catenet/platform/Parser"
import { defaulted, optional, required } from "@catenet/platform/Variable"
import * as VariableReader from "@catenet/platform/VariableReader"
import { Option, Schema } from "effect"
import * as ChannelOwnerVariables from "./ChannelOwnerVariables.ts"
import * as CustomCa from "./CustomCa.ts"
import { listenAddress } from "./HostPort.ts"
import { publicKeys, signingKey } from "./KeyParsers.ts"
import * as LoginVariables from "./LoginVariables.ts"
import * as MarketVariables from "./MarketVariables.ts"
import * as MemberVariables from "./MemberVariables.ts"
import * as PipelineVariables from "./PipelineVariables.ts"
import * as ProxyVariables from "./ProxyVariables.ts"
import * as RoomVariables from "./RoomVariables.ts"
import * as TunnelVariables from "./TunnelVariables.ts"
import * as UpdateVariables from "./UpdateVariables.ts"

/** Of the console: read before any file, so in the environment only. */
export const logging = {
  logFormat: defaulted(
    "CT_AGENT_LOG_FORMAT",
    Parser.text,
    "text",
    "`json` writes logs as JSON lines, like --json (environment only)."
  )
}

/** Of a command that acts as a user at the control plane. */
export const account = LoginVariables.account

/** Of the endpoints. */
export const credential = LoginVariables.credential

const decoded = <A>(schema: Schema.Codec<A, string>, expected: string) => {
  const decode = Schema.decodeUnknownOption(schema)
  return Parser.make(expected, (text) => Option.getOrUndefined(decode(text)))
}

export const topologyProof = {
  seed: required("CT_CHANNEL_HOLDER_KEY", signingKey, "Private holder key that signs the topology proof."),
  topology: required(
    "CT_TOPOLOGY_ID",
    decoded(TopologyId, "the id of a topology: 32 hex characters"),
    "Topology for which the proof is signed."
  ),
  account: required(
    "CT_TOPOLOGY_ACCOUNT",
    decoded(Subject, "the subject of an account"),
    "Subject of the account for which the proof is signed, as shown by /me/account."
  )
}

const tunnel = TunnelVariables.variables

export const status = { metricsListen: tunnel.metricsListen, stateDir: TunnelVariables.stateDir }

/** Where a member of a channel keeps what it knows of its peers. */
export const channelState = { stateDir: tunnel.stateDir }

/** Of every long-running command. */
export const longRunning = { metricsListen: tunnel.metricsListen, stateDir: tunnel.stateDir }

export const rotate = {
  originKey: tunnel.originKey,
  originKeyDir: tunnel.originKeyDir,
  capabilityOut: tunnel.capabilityOut,
  stateDir: TunnelVariables.stateDir
}

export const connect = {
  controlPlane: TunnelVariables.knownControlPlane,
  edgeCertificate: tunnel.edgeCertificate,
  edgeCertificateUrl: tunnel.edgeCertificateUrl,
  transports: tunnel.transports,
  postQuantum: tunnel.postQuantum
}

/** Of `certificate`: those of the serving agent, some of which it requires. */
export const certificate = {
  controlPlane: tunnel.controlPlane,
  ...TunnelVariables.requiredCertificate,
  accountKey: tunnel.accountKey,
  authorityRoots: tunnel.authorityRoots,
  ...CustomCa.variables,
  reload: tunnel.reload,
  stateDir: TunnelVariables.stateDir
}

/**
 * The part of an agent's configuration that `expose` uses: how the edge is reached, what is served locally beside the tunnel, and
 * which authority certificates are ordered from.
 * Variables of another tunnel, its tokens and folders are ignored: its agent may be configured in the same place.
 */
export const exposePassedOn = [
  tunnel.edge,
  tunnel.edgeCertificate,
  tunnel.edgeCertificateUrl,
  tunnel.fallback443,
  tunnel.framed,
  tunnel.healthPath,
  tunnel.maxServing,
  tunnel.metricsListen,
  tunnel.poolSize,
  tunnel.proxyProtocol,
  tunnel.reconnectAttempts,
  tunnel.reconnectBase,
  tunnel.reconnectMax,
  tunnel.tcpOnly,
  tunnel.transports,
  tunnel.trustedProxies,
  tunnel.authorityRoots,
  ...Object.values(CustomCa.variables)
].map(({ name }) => name)

/** Of `update`. */
export const update = { controlPlane: TunnelVariables.knownControlPlane, ...UpdateVariables.source }

/** Of the serving agent, and of commands around a tunnel. */
export const agent = {
  ...tunnel,
  ...UpdateVariables.variables,
  ...ProxyVariables.variables,
  ...logging,
  ...credential,
  ...LoginVariables.provider,
  ...topologyProof
}

/** Those that most agents need. */
export const first = {
  controlPlane: tunnel.controlPlane,
  joinToken: tunnel.joinToken,
  token: tunnel.token,
  bootstrap: tunnel.bootstrap,
  hostname: tunnel.hostname,
  mode: tunnel.mode,
  origin: tunnel.origin,
  tls: tunnel.tls,
  stateDir: tunnel.stateDir,
  metricsListen: tunnel.metricsListen
}

/** Of `relay-node`. */
export const relayNode = {
  listen: defaulted(
    "CT_RELAY_NODE_LISTEN",
    listenAddress,
    "127.0.0.1:4440",
    "Address at which relay-node accepts members or the relay gate of an edge."
  ),
  operators: optional(
    "CT_RELAY_NODE_OPERATORS",
    publicKeys,
    "Public keys of the channel operators whose grants relay-node accepts.",
    { standard: "all grants, because the gate has checked them" }
  ),
  maxConnections: defaulted(
    "CT_RELAY_NODE_MAX_CONNECTIONS",
    Parser.whole(2, 1_000_000),
    "4096",
    "Number of member connections that relay-node accepts at the same time."
  )
}

/** Of `channel`; the last two are those of every long-running command. */
export const channel = {
  ...MemberVariables.variables,
  ...MarketVariables.card,
  ...MarketVariables.offer,
  ...ChannelOwnerVariables.bridgeVariables,
  stateDir: optional("CT_AGENT_STATE_DIR", Parser.writablePath, "Folder for this member's events.", {
    standard: "~/.ct-agent"
  }),
  metricsListen: tunnel.metricsListen
} as const

/** Of `channel room`. */
export const room = {
  ...RoomVariables.variables,
  ...MarketVariables.card,
  ...MarketVariables.offer,
  ...ChannelOwnerVariables.bridgeVariables,
  stateDir: tunnel.stateDir,
  metricsListen: tunnel.metricsListen
} as const

/** Read only by `channel agent-card` and by `pipeline`. */
export const ofMarket = { ...MarketVariables.cardFile, ...PipelineVariables.own }

/** The variables of several commands by name: two commands may use one key for different variables. */
export const merged = (...records: ReadonlyArray<VariableReader.Variables>): VariableReader.Variables =>
  Object.fromEntries(records.flatMap((record) => Object.values(record)).map((each) => [each.name, each]))

/** All variables. */
export const variables = merged(
  ChannelOwnerVariables.operator,
  channel,
  ofMarket,
  { grants: room.grants },
  relayNode,
  agent
)

/** The names of all variables, including those of secret files. */
export const names: ReadonlyArray<string> = [...new Set(VariableReader.namesOf(variables))]

export const secrets = Object.values(variables).flatMap(({ isSecret, name }) => (isSecret ? [name] : []))
