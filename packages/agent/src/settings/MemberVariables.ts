/** The variables of `channel`: how a member joins, what it serves, and what it calls. */
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import * as Json from "@catenet/crypto/Json"
import * as MarketService from "@catenet/crypto/market/MarketService"
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import { secretBytes } from "@catenet/platform/SecretParser"
import { defaulted, optional, present, required } from "@catenet/platform/Variable"
import { Redacted, Result } from "effect"
import { isIP } from "node:net"
import { channelTransports } from "./ChannelTransports.ts"
import { type HostPort, hostPort } from "./HostPort.ts"
import { certificate } from "./TrustAnchor.ts"

export type Role = "initiate" | "accept"

const roles: ReadonlyMap<string, Role> = new Map([
  ["initiate", "initiate"],
  ["initiator", "initiate"],
  ["accept", "accept"],
  ["responder", "accept"],
  ["listen", "accept"]
])

const role = Parser.make("initiate or accept", (text) => roles.get(text.toLowerCase()))

/** A switch that only these words turn on, in any case; the text shows whether another one was meant as yes. */
export interface Switch {
  readonly isOn: boolean
  readonly text: string
}
const switchOf = (...literals: ReadonlyArray<string>): Parser.Parser<Switch> =>
  Parser.make(
    literals.length === 1 ? literals.join() : `${literals.slice(0, -1).join(", ")} or ${literals.at(-1)}`,
    (text) => ({
      isOn: literals.includes(text.toLowerCase()),
      text
    })
  )

/** `ip:port`, the IP as a literal. */
const socketAddress: Parser.Parser<HostPort> = Parser.make(
  "an IP address with a port",
  (text) => {
    const parsed = NetworkParser.parseAddress(text)
    return parsed !== undefined && isIP(parsed.host) !== 0 ? parsed : undefined
  },
  { example: "203.0.113.7:7001" }
)

const isLoopback = (host: string) => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)

/** In plain only within this machine: what is sealed is the session, not the join. */
const webSocketUrl = Parser.make(
  "a wss address",
  (text) => {
    const url = NetworkParser.parseUrl(text, ["ws:", "wss:"])
    const isUsable =
      url !== undefined &&
      url.search + url.hash + url.username === "" &&
      (url.protocol === "wss:" || isLoopback(url.hostname))
    return isUsable ? url : undefined
  },
  { example: "wss://portal.example.net/ws/channel" }
)

const key = Parser.make("64 hex digits", (text) => Result.getOrUndefined(Hex.decode(text, 32)))

const privateKey = (remedy: string) => Parser.described(secretBytes, { expected: "a key of 64 hex digits", remedy })

const grant = Parser.make(
  "a signed grant of 278 hex digits",
  (text) => Result.getOrUndefined(Result.map(Grant.fromHex(text), (decoded) => Redacted.make(decoded))),
  { isSecret: true, remedy: "copy all of it from where the channel's operator has issued it" }
)

/** Where a relay node of ours listens, or an address that needs libp2p. */
export type CircuitRelay = HostPort | "libp2p"

/** A multiaddr has a name and a value after each slash; of them this agent knows TCP at a host. */
const multiaddr = Parser.make(
  "a multiaddr",
  (text): CircuitRelay | undefined => {
    if (!/^(?:\/[a-z0-9-]+(?:\/[^/\s]+)?)+$/.test(text)) return undefined
    const [, family, host = "", port = ""] = /^\/(ip4|ip6|dns[46]?)\/([^/]+)\/tcp\/(\d{1,5})$/.exec(text) ?? []
    const version = family === "ip4" ? 4 : family === "ip6" ? 6 : 0
    if (family === undefined || isIP(host) !== version || Number(port) < 1 || Number(port) > 65_535) return "libp2p"
    return { host, port: Number(port) }
  },
  { example: "/ip4/203.0.113.7/tcp/4440" }
)

/** Its own copy of the service: the name that the offer has for it. */
const serviceOf = (text: string): MarketService.Service =>
  builtIn.find((service) => MarketService.slug(service) === text.toLowerCase()) ?? { Custom: text }
const builtIn = ["CodeGeneration", "SecurityReview", "SafetyCheck", "TextGeneration"] as const

export const services: Parser.Parser<ReadonlyArray<MarketService.Service>> = Parser.make("a comma list", (text) =>
  Parser.list.parse(text)?.map(serviceOf)
)

const json = Parser.make("a JSON value", (text) => Result.getOrUndefined(Json.parse(text)), {
  example: `{"name":"ping","arguments":{}}`
})

/** The same key, or the reason why the tools behind it are not offered. */
const bridgePeer = Parser.make("64 hex digits", (text) => ({ key: Result.getOrUndefined(Hex.decode(text, 32)) }))

const keys = {
  holderKey: optional(
    "CT_CHANNEL_HOLDER_KEY",
    privateKey("copy the private holder key that belongs to the grant"),
    "Private key of this holder: it signs the broker's challenge, and placements in topologies."
  ),
  noiseKey: required(
    "CT_CHANNEL_NOISE_KEY",
    privateKey("copy the private Noise key whose public half the channel knows"),
    "Private Noise key (X25519) of this member, apart from the holder key.",
    { remedy: "set it to the private Noise key whose public half the channel knows, 64 hex digits" }
  )
}

/** How a member joins. */
const joining = {
  role: required("CT_CHANNEL_ROLE", role, "Which side this member is: `initiate` begins, `accept` is begun with."),
  address: optional(
    "CT_CHANNEL_ADDR",
    socketAddress,
    "Direct mode: where the accepting member is reached and listens."
  ),
  peerNoiseKey: optional(
    "CT_CHANNEL_PEER_NOISE_KEY",
    key,
    "Public Noise key that the peer must prove; direct mode needs it."
  ),
  peerCertificate: optional(
    "CT_CHANNEL_PEER_CERT",
    certificate,
    "Direct mode: the only certificate that is taken where the peer is dialled by QUIC; without it any, as the peer proves its Noise key."
  ),
  broker: optional("CT_CHANNEL_BROKER", hostPort, "The edge's broker; without it the mode is direct."),
  relay: optional("CT_CHANNEL_RELAY", hostPort, "The edge's relay; needed beside the broker."),
  listen: optional("CT_CHANNEL_LISTEN", socketAddress, "Where this member listens for the direct path."),
  advertise: optional("CT_CHANNEL_ADVERTISE", hostPort, "Where peers reach that listener.", {
    standard: "CT_CHANNEL_LISTEN"
  }),
  relayOnly: optional("CT_CHANNEL_RELAY_ONLY", switchOf("1"), "Never listen for a direct path.", {
    standard: "as if 1 when the advertised address is not globally routable"
  }),
  frontDoor: optional("CT_CHANNEL_FRONT_DOOR", hostPort, "The edge's port 443, tried after broker and relay."),
  frontDoorCertificate: optional(
    "CT_CHANNEL_FRONT_DOOR_CERT",
    certificate,
    "The edge's root certificate, from /pki/ca of the control plane."
  ),
  frontDoorOnly: optional("CT_CHANNEL_FRONT_DOOR_ONLY", switchOf("1", "true", "yes"), "Dial the front door alone."),
  portTransports: channelTransports,
  webSocket: optional(
    "CT_CHANNEL_WEBSOCKET",
    webSocketUrl,
    "The edge's WebSocket, tried last, for networks that let nothing else out."
  ),
  relayGate: optional(
    "CT_CHANNEL_RELAY_GATE",
    hostPort,
    "The edge's port 443 with a relay node behind it; both members set it."
  ),
  relayGateCertificate: optional("CT_CHANNEL_RELAY_GATE_CERT", certificate, "The root certificate for that dial."),
  circuitRelay: optional(
    "CT_CHANNEL_CIRCUIT_RELAY",
    multiaddr,
    "A relay node that members dial themselves, without a gate; both set it."
  ),
  directUpgrade: optional(
    "CT_CHANNEL_DIRECT_UPGRADE",
    switchOf("1", "true", "yes"),
    "Move a relayed session to a direct link when both members can."
  ),
  channel: optional("CT_CHANNEL_ID", key, "The channel; the grant names it as well."),
  grant: optional("CT_CHANNEL_GRANT", grant, "The operator's grant that admits this holder.")
}

/** What a member offers to its peer. */
const serving = {
  serve: optional("CT_CHANNEL_SERVE", switchOf("1", "true"), "Serve tools to one peer after the other."),
  concurrency: defaulted(
    "CT_CHANNEL_SERVE_CONCURRENCY",
    Parser.whole(1, 65_535),
    "8",
    "Sessions served at the same time.",
    { isLenient: true }
  ),
  handlerCommand: optional(
    "CT_AGENT_SERVICE_HANDLER_CMD",
    Parser.text,
    "Shell command of a service call: request on stdin, answer on stdout."
  ),
  services: optional("CT_AGENT_SERVICES", services, "Services that the command serves, by their slugs."),
  handlerEnvironment: optional(
    "CT_AGENT_HANDLER_ENV",
    Parser.list,
    "Names of further variables that handler commands and installed services get."
  ),
  streamCommand: optional(
    "CT_AGENT_STREAM_HANDLER_CMD",
    Parser.text,
    "Shell command that gets each session as raw bytes, instead of the tools."
  ),
  streamService: optional("CT_AGENT_STREAM_SERVICE", Parser.text, "Name that this command finds in CT_SERVICE_TYPE."),
  bridgePeer: optional(
    "CT_CHANNEL_BRIDGE_PEER",
    bridgePeer,
    "Public Noise key of the peer that may use the bridge tools."
  ),
  isInstallDisabled: present(
    "CT_CHANNEL_BRIDGE_DISABLE_MANIFEST_INSTALL",
    "Refuses bridge/manifest-install when it is set, even to nothing."
  )
}

/** What a member calls once. */
const calling = {
  callService: optional(
    "CT_CHANNEL_CALL_SERVICE",
    Parser.text,
    "Service of the peer to call once, with stdin as its input."
  ),
  call: optional("CT_CHANNEL_CALL", Parser.text, "MCP method of the peer to call once."),
  callParams: optional("CT_CHANNEL_CALL_PARAMS", json, "The parameters of that call.", { needs: "CT_CHANNEL_CALL" })
}

export const variables = { ...joining, ...keys, ...serving, ...calling } as const
