/**
 * Everything the edge reads from its environment, once, at the start (data-plane 1.5): the values of the table, and what follows
 * from them.
 */
import { isOffered } from "@catenet/domain/edges/PublicPort"
import * as Problems from "@catenet/platform/ConfigurationInvalid"
import type { Address } from "@catenet/platform/NetworkParser"
import * as VariableReader from "@catenet/platform/VariableReader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { ConfigProvider, Context, Effect, Layer, Redacted } from "effect"
import { availableParallelism } from "node:os"
import * as ProcessCount from "./ProcessCount.ts"
import { variables } from "./Variables.ts"

type Values = VariableReader.Values<typeof variables>
type PartialValues = VariableReader.PartialValues<typeof variables>

/** The hosts of the platform itself: the prefix of their keys in the table, and their part of the variables' names. */
const platformHosts = { portal: "PORTAL", auth: "AUTH", masque: "MASQUE", adminUi: "ADMIN_UI" } as const
type PlatformHost = keyof typeof platformHosts

const hostOf = (values: PartialValues, name: PlatformHost) => ({
  host: values[`${name}Host` as const],
  upstream: values[`${name}Address` as const],
  certificate: values[`${name}Cert` as const],
  key: values[`${name}Key` as const],
  proxyProtocol: (name === "portal" || name === "auth") && (values[`${name}ProxyProtocol` as const] ?? false)
})

/** Two variables that must be set together. */
const pair = (first: string, one: unknown, second: string, other: unknown, remedy: string) =>
  (one === undefined) !== (other === undefined) && Problems.unset(one === undefined ? first : second, remedy)

const halves = (part: string, certificate: string | undefined, key: string | undefined) =>
  pair(
    `CT_EDGE_${part}_CERT`,
    certificate,
    `CT_EDGE_${part}_KEY`,
    key,
    "set both to the two halves of one PEM pair, or neither"
  )

const hostProblems = (values: PartialValues) => (name: PlatformHost) => {
  const { certificate, host, key, upstream } = hostOf(values, name)
  const variable = name === "portal" ? "CT_CP_PROXY_ADDR" : `CT_EDGE_${platformHosts[name]}_ADDR`
  return Problems.all(
    host !== undefined &&
      upstream === undefined &&
      Problems.unset(variable, `set it to the address that serves ${host}`),
    host !== undefined && halves(platformHosts[name], certificate, key)
  )
}

const hostNames = ["portal", "auth", "masque", "adminUi"] as const

/** Ports for tunnels at which the edge itself listens. */
const portConflicts = (values: PartialValues) => {
  const own = [
    values.mesh,
    values.frontDoor,
    values.browser,
    values.httpRedirect,
    values.admin,
    values.metrics,
    values.channelBroker,
    values.channelRelay,
    values.channelWebSocket
  ].flatMap((address) => (address === undefined || address.port === 0 ? [] : [address.port]))
  const quic = [values.mesh, values.channelBroker, values.channelRelay].flatMap((address) => address?.port ?? [])
  const conflictOf = (variable: string, ranges: PartialValues["ports"], used: ReadonlyArray<number>) => {
    const conflict = used.find((port) => isOffered(ranges, port))
    return (
      conflict !== undefined &&
      Problems.problem(variable, `contains ${conflict}, at which this edge listens itself`, "leave it out")
    )
  }
  return Problems.all(
    conflictOf("CT_EDGE_PORTS", values.ports, own),
    values.quic !== "off" && conflictOf("CT_EDGE_UDP_PORTS", values.udpPorts, quic)
  )
}

/** Rules across the variables. */
const rules = (values: PartialValues): ReadonlyArray<Problems.Problem> =>
  Problems.all(
    values.adminToken === undefined &&
      (values.admin ?? values.controlPlane) !== undefined &&
      Problems.problem(
        "CT_EDGE_ADMIN_TOKEN",
        "is not set although the control plane or the admin interface is",
        "set it to the same 64 hex digits as CT_CP_EDGE_ADMIN_TOKEN of the control plane"
      ),
    values.receipts === true &&
      values.history === false &&
      Problems.problem(
        "CT_EDGE_RECEIPTS",
        "is on although CT_EDGE_TUNNEL_HISTORY is off, and receipts are kept with the history",
        "turn both on, or receipts off"
      ),
    pair(
      "CT_EDGE_RELAY_NODE_PEER",
      values.relayNodeIdentity,
      "CT_EDGE_RELAY_UPSTREAM",
      values.relayUpstream,
      "set both to the address and the identity of the relay node, or neither"
    ),
    halves("WS_CHANNEL", values.webSocketCert, values.webSocketKey),
    halves("WILDCARD", values.wildcardCert, values.wildcardKey),
    hostNames.flatMap(hostProblems(values)),
    portConflicts(values)
  )

/** Paths of a PEM certificate chain and its key; undefined without both. */
const pemPair = (certificate: string | undefined, key: string | undefined) =>
  certificate === undefined || key === undefined ? undefined : { certificate, key }
export type PemPair = NonNullable<ReturnType<typeof pemPair>>

const terminateHost = (values: Values, name: PlatformHost) => {
  const { certificate, host, key, proxyProtocol, upstream } = hostOf(values, name)
  if (host === undefined || upstream === undefined) return undefined
  // Without a pair, a connection is passed to the upstream as it came.
  return { host, upstream, pair: pemPair(certificate, key), proxyProtocol }
}
/** A host name of the platform itself whose connections go to an upstream instead of to an agent. */
export type TerminateHost = NonNullable<ReturnType<typeof terminateHost>>

/** The port after the broker's, unless it is named. One address cannot be both. */
const relayOf = ({ channelBroker: broker, channelRelay: given }: Values): Address | undefined => {
  const next = broker && { ...broker, port: broker.port === 0 ? 0 : broker.port + 1 }
  const relay = given ?? next
  const isSame = relay?.port !== 0 && relay?.port === broker?.port && relay?.host === broker?.host
  return isSame || (relay?.port ?? 0) > 65_535 ? undefined : relay
}

/** Where members of channels join, and the relay node behind the relay gate. */
const channelListeners = (values: Values) => ({
  channelBroker: values.channelBroker,
  channelRelay: relayOf(values),
  channelWebSocket: values.channelWebSocket,
  relayNode:
    values.relayUpstream === undefined || values.relayNodeIdentity === undefined
      ? undefined
      : { address: values.relayUpstream, identity: values.relayNodeIdentity }
})

const ofMembers = [variables.channelBroker, variables.channelRelay, variables.channelWebSocket, variables.relayUpstream]

/** Without a control plane nobody says who is a member, so that no listener for members is opened. */
const none = { channelBroker: undefined, channelRelay: undefined, channelWebSocket: undefined, relayNode: undefined }

const read = Effect.gen(function* () {
  const values = yield* VariableReader.read(variables, { rules })
  const texts = yield* VariableReader.textsOf(yield* ConfigProvider.ConfigProvider, VariableReader.namesOf(variables))
  const hasMembers = values.controlPlane !== undefined
  for (const { name } of hasMembers ? [] : ofMembers)
    if (Object.hasOwn(texts, name))
      yield* Effect.logWarning(
        `${name} has no effect: CT_EDGE_CP_URL is not set, and a control plane names the members.`
      )
  const processes =
    values.processes === "auto" ? yield* ProcessCount.automatic(availableParallelism()) : values.processes
  /** The part of one process in a bound of the edge. */
  const share = (bound: number) => Math.ceil(bound / processes)
  return {
    ...values,
    ...(hasMembers ? channelListeners(values) : none),
    wildcard: pemPair(values.wildcardCert, values.wildcardKey),
    portal: terminateHost(values, "portal"),
    identityProvider: terminateHost(values, "auth"),
    otherHosts: (["masque", "adminUi"] as const)
      .map((name) => terminateHost(values, name))
      .filter((host) => host !== undefined),
    /** How many processes share the public listeners. */
    processes,
    /**
     * All variables as they were given, for the other processes; undefined when there is one. The others do not count again,
     * which could give another number.
     */
    given: processes === 1 ? undefined : Redacted.make({ ...texts, CT_EDGE_PROCESSES: String(processes) }),
    requireHostAuth: values.requireHostAuth ?? (values.frontDoor ?? values.browser) !== undefined,
    rendezvousPerMinute: share(values.rendezvousPerMinute),
    // The rate of connections is not shared: each process has a loop of its own to keep free.
    connections: share(values.connections),
    connectionsPerAddress: share(values.connectionsPerAddress),
    browserTunnels: share(values.browserTunnels),
    tunnelVisitors: share(values.tunnelVisitors),
    agentConnections: share(values.agentConnections),
    webSocketMembers: share(values.webSocketMembers),
    /** Undefined: a proxy in front of the edge terminates TLS. */
    webSocketPair: pemPair(values.webSocketCert, values.webSocketKey),
    channelMembers: share(values.channelMembers)
  }
})

/** The values of the variables, whose meanings are in the table, and what is made of them above. */
type Read = Effect.Success<typeof read>

/** The settings of one edge. */
export class Settings extends Context.Service<Settings, Read>()("edge/settings/Settings") {
  static readonly make = read
  static readonly layer = Layer.effect(this, this.make).pipe(Layer.provide(NodeFileSystem.layer))
}
