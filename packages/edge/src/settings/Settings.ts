/**
 * Everything the edge reads from its environment, once, at the start (data-plane 1.5). Variables that are ours and not
 * in the list there: `CT_EDGE_MAX_CONNECTIONS_PER_IP`, `CT_EDGE_MAX_VISITORS_PER_TUNNEL`, `CT_EDGE_RELAY_IDLE_SECS`, `CT_EDGE_CUT_AT_WINDOW_CLOSE`,
 * `CT_EDGE_REQUIRE_AGENT_PROOF`, `CT_EDGE_MESH_RELAY_PRIVATE`, `CT_EDGE_PROCESSES`, `CT_EDGE_REQUEST_HEAD_SECS`, `CT_EDGE_VISITOR_IDLE_SECS`.
 */
import type { AdminUrl } from "@catenet/domain/edges/EdgeNode"
import type { Problem } from "@catenet/platform/ConfigurationInvalid"
import type { Address } from "@catenet/platform/NetworkParser"
import * as VariableReader from "@catenet/platform/VariableReader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { ConfigProvider, Context, Effect, Layer, Redacted } from "effect"
import { availableParallelism } from "node:os"
import { type ChannelSettings, channelSettings, withoutEffect } from "./ChannelSettings.ts"
import { type PemPair, pemPair } from "./PemPair.ts"
import * as ProcessCount from "./ProcessCount.ts"
import { variables } from "./Variables.ts"

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
  /** New ones a second; 0 for no limit. */
  readonly connectionRatePerAddress: number
  readonly browserTunnels: number
  /** Of them, at one tunnel. */
  readonly tunnelVisitors: number
  readonly agentConnections: number
}

type Values = VariableReader.PartialValues<typeof variables>

/** The variables of a host of the platform itself, by their part of the names. */
const hostsOf = (values: Values) => ({
  PORTAL: {
    host: values.portalHost,
    upstream: values.portalAddress,
    certificate: values.portalCert,
    key: values.portalKey,
    proxyProtocol: values.portalProxyProtocol
  },
  AUTH: {
    host: values.authHost,
    upstream: values.authAddress,
    certificate: values.authCert,
    key: values.authKey,
    proxyProtocol: values.authProxyProtocol
  },
  MASQUE: {
    host: values.masqueHost,
    upstream: values.masqueAddress,
    certificate: values.masqueCert,
    key: values.masqueKey,
    proxyProtocol: false
  },
  ADMIN_UI: {
    host: values.adminUiHost,
    upstream: values.adminUiAddress,
    certificate: values.adminUiCert,
    key: values.adminUiKey,
    proxyProtocol: false
  }
})

type HostValues = ReturnType<typeof hostsOf>[keyof ReturnType<typeof hostsOf>]

const unset = (variable: string, remedy: string): Problem => ({ variable, problem: "is not set", remedy })

const half = (part: string, certificate: string | undefined, key: string | undefined): ReadonlyArray<Problem> => {
  const remedy = "set both to the two halves of one PEM pair, or neither"
  if ((certificate === undefined) === (key === undefined)) return []
  return [unset(certificate === undefined ? `CT_EDGE_${part}_CERT` : `CT_EDGE_${part}_KEY`, remedy)]
}

const relayNodeHalf = ({ relayNodeIdentity: identity, relayUpstream: upstream }: Values): ReadonlyArray<Problem> => {
  if ((identity === undefined) === (upstream === undefined)) return []
  const missing = upstream === undefined ? "CT_EDGE_RELAY_UPSTREAM" : "CT_EDGE_RELAY_NODE_PEER"
  return [unset(missing, "set both to the address and the identity of the relay node, or neither")]
}

const hostProblems = (part: string, { certificate, host, key, upstream }: HostValues): ReadonlyArray<Problem> => {
  if (host === undefined) return []
  const variable = part === "PORTAL" ? "CT_CP_PROXY_ADDR" : `CT_EDGE_${part}_ADDR`
  return [
    ...(upstream === undefined ? [unset(variable, `set it to the address that serves ${host}`)] : []),
    ...half(part, certificate, key)
  ]
}

/** What the variables must be together. */
const rules = (values: Values): ReadonlyArray<Problem> => [
  ...(values.adminToken === undefined && (values.admin !== undefined || values.controlPlane !== undefined)
    ? [
        {
          variable: "CT_EDGE_ADMIN_TOKEN",
          problem: "is not set although the control plane or the admin interface is",
          remedy: "set it to the same 64 hex digits as CT_CP_EDGE_ADMIN_TOKEN of the control plane"
        }
      ]
    : []),
  ...(values.receipts === true && values.history === false
    ? [
        {
          variable: "CT_EDGE_RECEIPTS",
          problem: "is on although CT_EDGE_TUNNEL_HISTORY is off, and receipts are kept with the history",
          remedy: "turn both on, or receipts off"
        }
      ]
    : []),
  ...relayNodeHalf(values),
  ...half("WS_CHANNEL", values.webSocketCert, values.webSocketKey),
  ...half("WILDCARD", values.wildcardCert, values.wildcardKey),
  ...Object.entries(hostsOf(values)).flatMap(([part, host]) => hostProblems(part, host))
]

const terminateHost = ({
  certificate,
  host,
  key,
  proxyProtocol = false,
  upstream
}: HostValues): TerminateHost | undefined =>
  host === undefined || upstream === undefined
    ? undefined
    : { host, upstream, pair: pemPair(certificate, key), proxyProtocol }

/** The settings of one edge. */
export class Settings extends Context.Service<
  Settings,
  {
    readonly edgeId: string
    readonly publicAddress: string
    readonly mesh: Address
    readonly frontDoor: Address | undefined
    /** For visitors of tunnels alone. */
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
    /** Whether QUIC is spoken: `auto` where its process is installed. */
    readonly quic: "off" | "on" | "auto"
    /** How many processes share the public listeners. */
    readonly processes: number
    /** All variables as they were given, for the other processes; absent when there is one. */
    readonly given: Redacted.Redacted<Readonly<Record<string, string>>> | undefined
    readonly requireHostAuth: boolean
    /** Tunnels with enrolled agents take no agent that cannot prove its key. */
    readonly requireAgentProof: boolean
    readonly deliverWaitMillis: number
    /** How long a visitor's connection may stay open on which no request runs. */
    readonly visitorIdleSeconds: number
    /** How long a visitor may take for the head of one request. */
    readonly requestHeadSeconds: number
    readonly relayIdleSeconds: number
    readonly cutAtWindowClose: boolean
    readonly shutdownGraceSeconds: number
    readonly drainDelaySeconds: number
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
    readonly channels: ChannelSettings
  }
>()("edge/settings/Settings") {
  static readonly make = Effect.gen(function* () {
    const values = yield* VariableReader.read(variables, { rules })
    const texts = yield* VariableReader.textsOf(yield* ConfigProvider.ConfigProvider, VariableReader.namesOf(variables))
    const canAsk = values.controlPlane !== undefined
    for (const name of withoutEffect(texts, canAsk))
      yield* Effect.logWarning(
        `${name} has no effect: CT_EDGE_CP_URL is not set, and a control plane names the members.`
      )
    const processes =
      values.processes === "auto" ? yield* ProcessCount.automatic(availableParallelism()) : values.processes
    /** What is bounded for the edge, for one of its processes. */
    const share = (bound: number) => Math.ceil(bound / processes)
    const { ADMIN_UI, AUTH, MASQUE, PORTAL } = hostsOf(values)
    return Settings.of({
      edgeId: values.edgeId,
      publicAddress: values.publicAddress,
      mesh: values.mesh,
      frontDoor: values.frontDoor,
      browser: values.browser,
      httpRedirect: values.httpRedirect,
      admin: values.admin,
      adminUrl: values.adminUrl,
      heartbeatSeconds: values.heartbeatSeconds,
      metrics: values.metrics,
      adminToken: values.adminToken,
      controlPlane: values.controlPlane,
      certOut: values.certOut,
      wildcard: pemPair(values.wildcardCert, values.wildcardKey),
      portal: terminateHost(PORTAL),
      otherHosts: [AUTH, MASQUE, ADMIN_UI].map(terminateHost).filter((host) => host !== undefined),
      quic: values.quic,
      processes,
      // The others do not count again, which could give another number.
      given: processes === 1 ? undefined : Redacted.make({ ...texts, CT_EDGE_PROCESSES: String(processes) }),
      requireAgentProof: values.requireAgentProof,
      requireHostAuth: values.requireHostAuth ?? (values.frontDoor ?? values.browser) !== undefined,
      deliverWaitMillis: values.deliverWaitMillis,
      visitorIdleSeconds: values.visitorIdleSeconds,
      requestHeadSeconds: values.requestHeadSeconds,
      relayIdleSeconds: values.relayIdleSeconds,
      cutAtWindowClose: values.cutAtWindowClose,
      shutdownGraceSeconds: values.shutdownGraceSeconds,
      drainDelaySeconds: values.drainDelaySeconds,
      proofOfWorkBits: values.proofOfWorkBits,
      rendezvousPerMinute: share(values.rendezvousPerMinute),
      meshRelay: values.meshRelay,
      meshRelayPrivate: values.meshRelayPrivate,
      history: values.history,
      historyPath: values.historyPath,
      historyRetentionSeconds: values.historyRetentionSeconds,
      receipts: values.receipts,
      auditPath: values.auditPath,
      auditRetentionSeconds: values.auditRetentionSeconds,
      caps: {
        connections: share(values.connections),
        connectionsPerAddress: share(values.connectionsPerAddress),
        // Each process has a loop of its own to keep free.
        connectionRatePerAddress: values.connectionRatePerAddress,
        browserTunnels: share(values.browserTunnels),
        tunnelVisitors: share(values.tunnelVisitors),
        agentConnections: share(values.agentConnections)
      },
      channels: channelSettings(values, canAsk, share)
    })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide(NodeFileSystem.layer))
}
