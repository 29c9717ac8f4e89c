/** Rules across the variables of `channel`: problems, each with a remedy, and warnings about values without effect. */
import * as Bytes from "@catenet/crypto/Bytes"
import type * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { permits } from "@catenet/crypto/Permission"
import { clause } from "@catenet/domain/values/Sentence"
import * as Problems from "@catenet/platform/ConfigurationInvalid"
import type * as VariableReader from "@catenet/platform/VariableReader"
import { Redacted } from "effect"
import type * as MarketVariables from "./MarketVariables.ts"
import type { OfPair } from "./RoomVariables.ts"
import type { TrustAnchor } from "./TrustAnchor.ts"
import type * as Variables from "./Variables.ts"

/** Variables of the Catenet programs, which service commands never get, even if CT_AGENT_HANDLER_ENV names them. */
export const isOwn = (name: string): boolean => /^(?:CT_|OTEL_)/i.test(name)

type Channel = VariableReader.Values<typeof Variables.channel>
type Partial = VariableReader.PartialValues<typeof Variables.channel>
/** The members of a room have no values of what belongs to a single pair. */
export type Values = Omit<Channel, OfPair> & { readonly [K in OfPair]?: Channel[K] | undefined }

/** Variables of the other mode, or of a role that does not need them. */
const outOfPlace = (values: Values) => {
  const { advertise, broker, channel, frontDoor, frontDoorCertificate, frontDoorOnly, grant, listen, relayOnly } =
    values
  const noBroker = "without CT_CHANNEL_BROKER, in direct mode"
  const isDirect = broker === undefined
  const ofBroker = {
    CT_CHANNEL_GRANT: grant,
    CT_CHANNEL_ID: channel,
    CT_CHANNEL_LISTEN: listen,
    CT_CHANNEL_ADVERTISE: advertise,
    CT_CHANNEL_RELAY_ONLY: relayOnly?.isOn === true ? relayOnly : undefined,
    CT_CHANNEL_FRONT_DOOR: frontDoor,
    CT_CHANNEL_FRONT_DOOR_CERT: frontDoorCertificate,
    CT_CHANNEL_FRONT_DOOR_ONLY: frontDoorOnly?.isOn === true ? frontDoorOnly : undefined,
    CT_CHANNEL_WEBSOCKET: values.webSocket,
    CT_CHANNEL_RELAY_GATE: values.relayGate,
    CT_CHANNEL_DIRECT_UPGRADE: values.directUpgrade?.isOn === true ? values.directUpgrade : undefined,
    CT_CHANNEL_CIRCUIT_RELAY: values.circuitRelay,
    CT_CHANNEL_RELAY_GATE_CERT: values.relayGateCertificate
  }
  const isServing = values.serve?.isOn === true
  const alone = relayOnly?.isOn === true && "with CT_CHANNEL_RELAY_ONLY=1, which opens no listener"
  const reasons: Record<string, string | false> = {
    ...(isDirect
      ? Object.fromEntries(Object.entries(ofBroker).map(([name, value]) => [name, value !== undefined && noBroker]))
      : {
          CT_CHANNEL_ADDR: values.address !== undefined && "beside CT_CHANNEL_BROKER, which says where the peer is met",
          CT_CHANNEL_PEER_CERT:
            values.peerCertificate !== undefined && "beside CT_CHANNEL_BROKER: the peer proves its Noise key",
          CT_CHANNEL_LISTEN: listen !== undefined && alone,
          CT_CHANNEL_ADVERTISE: advertise !== undefined && alone,
          CT_CHANNEL_CIRCUIT_RELAY:
            values.circuitRelay !== undefined &&
            (values.relayGate !== undefined
              ? "beside CT_CHANNEL_RELAY_GATE"
              : relayOnly?.isOn !== true && "without CT_CHANNEL_RELAY_ONLY=1"),
          CT_CHANNEL_RELAY_GATE_CERT:
            values.relayGateCertificate !== undefined &&
            values.relayGate === undefined &&
            "without CT_CHANNEL_RELAY_GATE"
        }),
    CT_AGENT_SERVICE_HANDLER_CMD:
      values.handlerCommand !== undefined &&
      values.streamCommand !== undefined &&
      "with CT_AGENT_STREAM_HANDLER_CMD, which gets every session",
    CT_AGENT_STREAM_HANDLER_CMD: values.streamCommand !== undefined && !isServing && "without CT_CHANNEL_SERVE=1",
    CT_AGENT_STREAM_SERVICE:
      values.streamService !== undefined && values.streamCommand === undefined && "without CT_AGENT_STREAM_HANDLER_CMD",
    CT_AGENT_SERVICES:
      values.services !== undefined && values.handlerCommand === undefined && "without CT_AGENT_SERVICE_HANDLER_CMD",
    CT_CHANNEL_CALL:
      values.call !== undefined &&
      values.callService !== undefined &&
      "beside CT_CHANNEL_CALL_SERVICE, which is called",
    CT_CHANNEL_CALL_PARAMS:
      values.callParams !== undefined &&
      values.call === undefined &&
      (values.callService === undefined
        ? "without CT_CHANNEL_CALL"
        : "with CT_CHANNEL_CALL_SERVICE, whose input is stdin")
  }
  return Object.entries(reasons)
}

/** Sentences about values that are legal but probably not meant. */
export const warningsOf = (values: Values): ReadonlyArray<string> => {
  const switches = {
    CT_CHANNEL_RELAY_ONLY: values.relayOnly,
    CT_CHANNEL_FRONT_DOOR_ONLY: values.frontDoorOnly,
    CT_CHANNEL_DIRECT_UPGRADE: values.directUpgrade,
    CT_CHANNEL_SERVE: values.serve
  }
  const warnings: Array<string> = []
  for (const [name, value] of Object.entries(switches))
    if (value?.isOn === false && !/^(?:0|false|no|off)$/i.test(value.text))
      warnings.push(`${name}=${value.text} counts as no. Set ${name}=1 to switch it on.`)
  if (values.broker !== undefined && values.frontDoorCertificate === undefined)
    warnings.push(
      "CT_CHANNEL_FRONT_DOOR_CERT is not set: the edge's certificate is not checked, and the front door is not tried. Set it to the root from /pki/ca."
    )
  if (values.frontDoorCertificate !== undefined && values.frontDoor === undefined && values.broker !== undefined)
    warnings.push("CT_CHANNEL_FRONT_DOOR is not set: only broker and relay are tried.")
  if (values.bridgePeer !== undefined && values.bridgePeer.key === undefined)
    warnings.push("CT_CHANNEL_BRIDGE_PEER is not 64 hex digits: the bridge tools are not offered.")
  for (const [name, why] of outOfPlace(values))
    if (why !== false) warnings.push(`${name} has no effect ${clause(why)}.`)
  return warnings
}

export const unusable = (variable: string, value: TrustAnchor | undefined) =>
  value?._tag === "Unusable" &&
  Problems.problem(variable, value.why, "set it to the hex digits of the root's DER, a PEM text, or a file")

export const short = (bytes: Uint8Array) => `${Hex.encode(bytes).slice(0, 16)}…`

const directRules = ({ address, peerNoiseKey }: Partial) =>
  Problems.all(
    address === undefined &&
      Problems.unset(
        "CT_CHANNEL_ADDR",
        "set it to ip:port of the accepting member, or set CT_CHANNEL_BROKER to meet at an edge"
      ),
    peerNoiseKey === undefined &&
      Problems.unset(
        "CT_CHANNEL_PEER_NOISE_KEY",
        "set it to the peer's public Noise key, 64 hex digits: it proves who the peer is"
      )
  )

/** Whether the grant is this holder's, for this channel and this role, and still valid. */
const grantRules = (grant: Grant.Grant, { channel, holderKey, role }: Partial, nowMillis: number) => {
  const wrong = (problem: string, remedy: string) => Problems.problem("CT_CHANNEL_GRANT", problem, remedy)
  const holder = holderKey === undefined ? undefined : native.ed25519.publicKey(Redacted.value(holderKey))
  return Problems.all(
    holder !== undefined &&
      !Bytes.equal(holder, grant.holder) &&
      wrong(
        `is for the holder ${short(grant.holder)}, and CT_CHANNEL_HOLDER_KEY is the key of ${short(holder)}`,
        "set the key that belongs to the grant"
      ),
    role !== undefined &&
      !permits(grant.direction, role) &&
      wrong(`permits ${grant.direction}, and CT_CHANNEL_ROLE is ${role}`, `set CT_CHANNEL_ROLE=${grant.direction}`),
    channel !== undefined &&
      !Bytes.equal(channel, grant.channel) &&
      Problems.problem(
        "CT_CHANNEL_ID",
        `is not the channel of CT_CHANNEL_GRANT, which is ${short(grant.channel)}`,
        "correct or unset it"
      ),
    grant.expiresAt * 1000n <= BigInt(nowMillis) &&
      wrong("has expired", "ask the operator of the channel for a new one")
  )
}

/** The mode is chosen by the broker alone; the other two are of no use without one. */
const isBrokered = ({ broker, frontDoor, relay }: Partial) => (broker ?? relay ?? frontDoor) !== undefined

/** The edge's addresses, and this member's keys. */
export const edgeRules = ({
  broker,
  frontDoor,
  frontDoorCertificate,
  frontDoorOnly,
  holderKey,
  relay
}: Pick<Partial, "broker" | "frontDoor" | "frontDoorCertificate" | "frontDoorOnly" | "holderKey" | "relay">) =>
  Problems.all(
    broker === undefined &&
      Problems.unset("CT_CHANNEL_BROKER", "set it to host:port of the edge's broker, such as edge.example.net:4435"),
    relay === undefined &&
      Problems.unset("CT_CHANNEL_RELAY", "set it to host:port of the edge's relay, such as edge.example.net:4436"),
    holderKey === undefined &&
      Problems.unset("CT_CHANNEL_HOLDER_KEY", "set it to the private holder key that belongs to the grant"),
    frontDoorOnly?.isOn === true &&
      frontDoor === undefined &&
      Problems.unset("CT_CHANNEL_FRONT_DOOR", "CT_CHANNEL_FRONT_DOOR_ONLY needs it: set it to host:443 of the edge"),
    frontDoorOnly?.isOn === true &&
      frontDoorCertificate === undefined &&
      Problems.unset(
        "CT_CHANNEL_FRONT_DOOR_CERT",
        "CT_CHANNEL_FRONT_DOOR_ONLY needs it: set it to the root from /pki/ca"
      )
  )

const brokerRules = (values: Partial, nowMillis: number) => {
  const { grant, listen, relayGate, relayOnly } = values
  return Problems.all(
    edgeRules(values),
    grant === undefined &&
      Problems.unset("CT_CHANNEL_GRANT", "set it to the grant that the channel's operator has issued"),
    listen === undefined &&
      relayOnly?.isOn !== true &&
      Problems.unset("CT_CHANNEL_LISTEN", "set it to ip:port of a listener, or CT_CHANNEL_RELAY_ONLY=1 for none"),
    relayGate !== undefined &&
      values.relayGateCertificate === undefined &&
      Problems.unset("CT_CHANNEL_RELAY_GATE_CERT", "CT_CHANNEL_RELAY_GATE needs it: set it to the root from /pki/ca"),
    relayGate !== undefined &&
      relayOnly?.isOn !== true &&
      Problems.problem(
        "CT_CHANNEL_RELAY_GATE",
        "is used with CT_CHANNEL_RELAY_ONLY=1 only",
        "set that, or unset CT_CHANNEL_RELAY_GATE"
      ),
    grant !== undefined && grantRules(Redacted.value(grant), values, nowMillis)
  )
}

const isCallingServer = ({ call, callService, role, serve }: Partial) =>
  serve?.isOn === true && (call ?? callService) !== undefined && role !== undefined

type Market = VariableReader.PartialValues<typeof MarketVariables.card & typeof MarketVariables.offer>

/** A card needs a role, an offer all of its terms, and both the key that signs them. */
export const marketRules = (values: Market & Pick<Partial, "handlerEnvironment" | "holderKey">) => {
  const terms = {
    CT_AGENT_OFFER_KIND: values.offerKind,
    CT_AGENT_OFFER_MODELS: values.offerModels,
    CT_AGENT_OFFER_UNITS: values.offerUnits,
    CT_AGENT_OFFER_MIN_PRICE: values.offerMinPrice,
    CT_AGENT_OFFER_CURRENCY: values.offerCurrency
  }
  const missing = Object.entries(terms).filter(([, value]) => value === undefined)
  const offers = missing.length < Object.keys(terms).length || values.offerServices !== undefined
  const cards = (values.cardSkills ?? values.cardCells ?? values.cardChannels ?? values.cardRoles) !== undefined
  return Problems.all(
    offers &&
      missing.map(([name]) =>
        Problems.unset(name, "an offer needs it; set it, or unset every CT_AGENT_OFFER variable")
      ),
    cards &&
      values.cardRoles === undefined &&
      Problems.unset("CT_AGENT_CARD_ROLES", "a card needs a role; set it, or unset every CT_AGENT_CARD variable"),
    (offers || cards) &&
      values.holderKey === undefined &&
      Problems.unset("CT_CHANNEL_HOLDER_KEY", "it signs the card and the offer"),
    values.handlerEnvironment
      ?.filter(isOwn)
      .map((name) =>
        Problems.problem(
          "CT_AGENT_HANDLER_ENV",
          `names ${name}, which is a variable of this program`,
          "leave it out: handlers do not get those"
        )
      )
  )
}

export const rules =
  (nowMillis: number) =>
  (values: Partial): ReadonlyArray<Problems.Problem> =>
    Problems.all(
      isBrokered(values) ? brokerRules(values, nowMillis) : directRules(values),
      unusable("CT_CHANNEL_FRONT_DOOR_CERT", values.frontDoorCertificate),
      unusable("CT_CHANNEL_RELAY_GATE_CERT", values.relayGateCertificate),
      unusable("CT_CHANNEL_PEER_CERT", values.peerCertificate),
      values.circuitRelay === "libp2p" &&
        Problems.problem(
          "CT_CHANNEL_CIRCUIT_RELAY",
          "names a libp2p relay, and this agent speaks no libp2p",
          "run ct-agent relay-node and set /ip4/<address>/tcp/<port> or /dns/<name>/tcp/<port> of it"
        ),
      isCallingServer(values) &&
        Problems.problem("CT_CHANNEL_SERVE", "is set together with a call", "unset one of the two"),
      marketRules(values)
    )
