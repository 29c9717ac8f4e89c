/** The settings of a channel member. All problems are reported, not only the first. */
import * as Address from "@catenet/crypto/admission/Address"
import type { Policy } from "@catenet/crypto/admission/KeyExchange"
import type * as Grant from "@catenet/crypto/Grant"
import type * as Json from "@catenet/crypto/Json"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Clock, Data, Effect, FileSystem, Redacted, Result } from "effect"
import { homedir } from "node:os"
import { join } from "node:path"
import * as EnvironmentFile from "./EnvironmentFile.ts"
import { formatHostPort, type HostPort } from "./HostPort.ts"
import * as LoginVariables from "./LoginVariables.ts"
import * as MemberRules from "./MemberRules.ts"
import * as TrustAnchor from "./TrustAnchor.ts"
import type { PortTransport } from "./TunnelTransports.ts"
import { channel } from "./Variables.ts"

/** How the members meet. Certificates are PEM. */
export type Meeting = Data.TaggedEnum<{
  Direct: {
    readonly address: HostPort
    /** The only accepted certificate of the peer over QUIC. */
    readonly peerCertificate: string | undefined
    readonly transports?: ReadonlyArray<PortTransport>
    readonly postQuantum?: Policy
  }
  Broker: {
    readonly broker: HostPort
    readonly relay: HostPort
    readonly frontDoor: HostPort | undefined
    readonly isFrontDoorOnly: boolean
    /** The only trusted certificate; without it the edge's is not checked, and the front door is not used. */
    readonly root: string | undefined
    /** Transports to the edge's own ports, in the order in which they are tried. */
    readonly transports?: ReadonlyArray<PortTransport>
    readonly webSocket: URL | undefined
    /** A relay node instead of the edge's own relay: through the gate of an edge, or dialled itself. */
    readonly node:
      { readonly way: "gate" | "circuit"; readonly address: HostPort; readonly root: string | undefined } | undefined
    readonly grant: Grant.Grant
    readonly holderKey: Redacted.Redacted<Uint8Array>
    /** Where to listen for the direct path, and where peers reach it; undefined for relay only. */
    readonly listen: { readonly address: HostPort; readonly advertised: string } | undefined
    readonly isUpgrading: boolean
    /** Post-quantum key exchange with the peer; `prefer` if undefined. */
    readonly postQuantum?: Policy
  }
}>
export const Meeting = Data.taggedEnum<Meeting>()

/** What the session is connected to. */
export type LocalSide = Data.TaggedEnum<{
  CallService: { readonly service: string }
  Call: { readonly method: string; readonly params: Json.Json | undefined }
  StreamHandler: { readonly command: string; readonly service: string }
  /** A local MCP server's tools are offered beside those of the variables. */
  Serve: {
    readonly mcpCommand?: string | undefined
    /** Tools whose calls wait for the owner; `*` stands for any characters. */
    readonly confirm?: ReadonlyArray<string>
  }
  Pipe: {}
}>
const LocalSide = Data.taggedEnum<LocalSide>()

type Values = MemberRules.Values

/** The first that applies. */
const localSideOf = ({ call, callParams, callService, serve, streamCommand, streamService }: Values): LocalSide => {
  if (callService !== undefined) return LocalSide.CallService({ service: callService })
  if (call !== undefined) return LocalSide.Call({ method: call, params: callParams })
  if (serve?.isOn !== true) return LocalSide.Pipe()
  return streamCommand === undefined
    ? LocalSide.Serve({})
    : LocalSide.StreamHandler({ command: streamCommand, service: streamService ?? "" })
}

/** The listener, unless this member is relay-only by choice or because of its advertised address. */
const listenOf = ({ advertise, listen, relayOnly }: Values) => {
  if (relayOnly?.isOn === true || listen === undefined) return undefined
  const advertised = formatHostPort(advertise ?? listen)
  const parsed = Address.parse(advertised)
  // A name is resolved when the member joins.
  const isReachable = Result.match(parsed, {
    onSuccess: ({ address }) => Address.isGlobal(address),
    onFailure: () => true
  })
  return isReachable ? { address: listen, advertised } : undefined
}

/** The PEM of a root given as text or as a file. */
export const pemOf = Effect.fnUntraced(function* (variable: string, text: TrustAnchor.TrustAnchor | undefined) {
  if (text === undefined) return undefined
  const fs = yield* FileSystem.FileSystem
  const wrong = (why: string) =>
    ConfigurationInvalid.of(variable, why, "set it to the hex digits of the root's DER, a PEM text, or a file")
  const known =
    text._tag === "File"
      ? TrustAnchor.ofFile(
          yield* Effect.mapError(fs.readFile(text.path), () => wrong("names a file that cannot be read"))
        )
      : text
  return known._tag === "Pem" ? known.pem : yield* wrong(known._tag === "Unusable" ? known.why : "is no certificate")
})

const nodeOf = ({ circuitRelay, relayGate, relayOnly }: Values, root: string | undefined) => {
  if (relayOnly?.isOn !== true) return undefined
  if (relayGate !== undefined) return { way: "gate" as const, address: relayGate, root }
  if (circuitRelay === undefined || circuitRelay === "libp2p") return undefined
  return { way: "circuit" as const, address: circuitRelay, root: undefined }
}

/** Whether QUIC is tried anywhere. */
export const wantsQuic = ({ transports }: Meeting) => transports?.includes("quic") ?? true

const meetingOf = Effect.fnUntraced(function* (values: Values) {
  const { address, broker, grant, holderKey, portTransports, relay } = values
  const ways = portTransports === undefined ? {} : { transports: portTransports }
  if (broker === undefined || relay === undefined || grant === undefined || holderKey === undefined) {
    if (address === undefined) return yield* ConfigurationInvalid.of("CT_CHANNEL_ADDR", "is not set")
    return Meeting.Direct({
      address,
      peerCertificate: yield* pemOf("CT_CHANNEL_PEER_CERT", values.peerCertificate),
      postQuantum: values.postQuantum,
      ...ways
    })
  }
  return Meeting.Broker({
    broker,
    relay,
    frontDoor: values.frontDoor,
    isFrontDoorOnly: values.frontDoorOnly?.isOn ?? false,
    root: yield* pemOf("CT_CHANNEL_FRONT_DOOR_CERT", values.frontDoorCertificate),
    ...ways,
    webSocket: values.webSocket,
    node: nodeOf(values, yield* pemOf("CT_CHANNEL_RELAY_GATE_CERT", values.relayGateCertificate)),
    grant: Redacted.value(grant),
    holderKey,
    listen: listenOf(values),
    isUpgrading: values.directUpgrade?.isOn ?? false,
    postQuantum: values.postQuantum
  })
})

/** The card's content before it is signed. */
const cardOf = ({ cardCells, cardChannels, cardRoles, cardSkills, cardTtlSecs }: Values) =>
  cardRoles && {
    roleTags: cardRoles,
    skills: cardSkills ?? [],
    cells: cardCells ?? [],
    channels: cardChannels ?? [],
    ttlSecs: cardTtlSecs
  }
export type CardTerms = NonNullable<ReturnType<typeof cardOf>>

/** The offer's content before it is signed, and a peer's bid limit. */
const offerOf = (values: Values) => {
  const { offerCurrency: currencyId, offerKind: kind, offerMinPrice: minPrice } = values
  const { offerModels: models, offerUnits: unitsAvailable } = values
  const isWhole = kind !== undefined && models !== undefined && unitsAvailable !== undefined
  if (!isWhole || minPrice === undefined || currencyId === undefined) return undefined
  return {
    kind,
    models,
    unitsAvailable,
    minPrice,
    currencyId,
    services: values.offerServices ?? [],
    ttlSecs: values.offerTtlSecs,
    limit: { bids: values.offerMaxBids, window: values.offerWindowSecs }
  }
}
export type OfferTerms = NonNullable<ReturnType<typeof offerOf>>

const servingOf = (values: Values) => ({
  concurrency: values.concurrency ?? 1,
  handlerCommand: values.handlerCommand,
  /** Additional variables for handler commands. */
  passes: values.handlerEnvironment ?? [],
  services: values.services,
  card: cardOf(values),
  offer: offerOf(values),
  /** Signs card and offer. */
  holderKey: values.holderKey
})
export type Serving = ReturnType<typeof servingOf>

/** What the bridge tools need, and who may use them. */
const bridgeOf = (values: Values) => ({
  /** The Noise key of the only peer that may use them. */
  peer: values.bridgePeer?.key,
  controlPlane: values.controlPlane,
  channel: values.channel ?? (values.grant && Redacted.value(values.grant).channel),
  credential: LoginVariables.sourceOf(values),
  canIssueGrants: values.operatorKey !== undefined,
  registry: values.registry,
  install: {
    trusted: values.trusted ?? [],
    /** File with further keys. */
    trustedFile: values.trustedFile,
    workDir: values.workDir,
    isDisabled: values.isInstallDisabled,
    /** Variables that installed services may get. */
    passes: values.handlerEnvironment ?? []
  }
})
export type BridgeTerms = ReturnType<typeof bridgeOf>
export type InstallTerms = BridgeTerms["install"]

export const settingsOf = Effect.fnUntraced(function* (values: Values) {
  return {
    role: values.role,
    noiseKey: values.noiseKey,
    /** The key that the peer must prove in addition to the edge's information. */
    peerNoiseKey: values.peerNoiseKey,
    meeting: yield* meetingOf(values),
    sessionHandler: localSideOf(values),
    serving: servingOf(values),
    bridge: bridgeOf(values),
    stateDir: values.stateDir ?? join(homedir(), ".ct-agent"),
    metricsListen: values.metricsListen,
    warnings: MemberRules.warningsOf(values)
  }
})
export type MemberSettings = Effect.Success<ReturnType<typeof settingsOf>>

/** The settings of a channel member, from the environment and the file that `named` names. */
export const read = Effect.fn("MemberSettings.read")(function* (named: string | undefined) {
  const rules = MemberRules.rules(yield* Clock.currentTimeMillis)
  const values = yield* EnvironmentFile.read(named, channel, rules)
  yield* EnvironmentFile.warnUnread(named, channel)
  return yield* settingsOf(values)
})
