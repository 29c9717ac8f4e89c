/** What the environment says of channels. */
import type { Address } from "@catenet/platform/NetworkParser"
import type * as VariableReader from "@catenet/platform/VariableReader"
import type { channelVariables } from "./ChannelVariables.ts"
import { type PemPair, pemPair } from "./PemPair.ts"

export interface RelayNode {
  readonly address: Address
  readonly identity: string
}

export interface ChannelSettings {
  /** Where members join for the rendezvous phase, and for the relay phase. */
  readonly broker: Address | undefined
  readonly relay: Address | undefined
  readonly webSocket: Address | undefined
  /** Absent: a proxy before the edge ends TLS. */
  readonly webSocketPair: PemPair | undefined
  readonly webSocketConnections: number
  /** What stands behind the relay gate. */
  readonly relayNode: RelayNode | undefined
  /** Connections of members at once. */
  readonly brokerConnections: number
  /** How long members wait where the connection is kept alive. */
  readonly keepAliveParkSeconds: number
  /** Members must not advertise an address that contradicts where they are seen. */
  readonly requireAttestedEndpoint: boolean
}

type Values = VariableReader.Values<typeof channelVariables>

/** The port after the broker's, unless it is named. One address cannot be both. */
const relayOf = ({ channelBrokerAddress: broker, channelRelayAddress: given }: Values): Address | undefined => {
  const next = broker && { ...broker, port: broker.port === 0 ? 0 : broker.port + 1 }
  const relay = given ?? next
  const isSame = relay?.port !== 0 && relay?.port === broker?.port && relay?.host === broker?.host
  return isSame || (relay?.port ?? 0) > 65_535 ? undefined : relay
}

const relayNodeOf = ({ relayNodeIdentity: identity, relayUpstream: address }: Values): RelayNode | undefined =>
  address === undefined || identity === undefined ? undefined : { address, identity }

const ofMembers = [
  "CT_EDGE_CHANNEL_LISTEN",
  "CT_EDGE_CHANNEL_RELAY_LISTEN",
  "CT_EDGE_WS_CHANNEL_LISTEN",
  "CT_EDGE_RELAY_UPSTREAM"
]

/** Which of these variables have no effect, since no control plane says who is a member. */
export const withoutEffect = (given: Readonly<Record<string, string>>, canAsk: boolean): ReadonlyArray<string> =>
  canAsk ? [] : ofMembers.filter((name) => Object.hasOwn(given, name))

/** Where no control plane says who is a member, no door is opened. `share` gives the part of one process. */
export const channelSettings = (
  values: Values,
  canAsk: boolean,
  share: (bound: number) => number
): ChannelSettings => ({
  broker: canAsk ? values.channelBrokerAddress : undefined,
  relay: canAsk ? relayOf(values) : undefined,
  webSocket: canAsk ? values.webSocketAddress : undefined,
  webSocketPair: pemPair(values.webSocketCert, values.webSocketKey),
  webSocketConnections: share(values.webSocketConnections),
  relayNode: canAsk ? relayNodeOf(values) : undefined,
  brokerConnections: share(values.channelBroker),
  keepAliveParkSeconds: values.keepAliveParkSeconds,
  requireAttestedEndpoint: values.requireAttestedEndpoint
})
