/** Variables of `channel`: how a member joins, what it serves, and what it calls. */
import { policies } from "@catenet/crypto/admission/KeyExchange"
import * as Grant from "@catenet/crypto/Grant"
import * as Json from "@catenet/crypto/Json"
import * as MarketService from "@catenet/crypto/market/MarketService"
import { isIP, isLoopbackHost } from "@catenet/platform/IpAddress"
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import { defaulted, optional, present, required } from "@catenet/platform/Variable"
import { Redacted, Result } from "effect"
import { type HostPort, hostPort } from "./HostPort.ts"
import { privateKey, publicKey } from "./KeyParsers.ts"
import { certificate } from "./TrustAnchor.ts"
import { channelTransports } from "./TunnelTransports.ts"

export type Role = "initiate" | "accept"

const roles: ReadonlyMap<string, Role> = new Map([
  ["initiate", "initiate"],
  ["initiator", "initiate"],
  ["accept", "accept"],
  ["responder", "accept"],
  ["listen", "accept"]
])

const role = Parser.make("initiate or accept", (text) => roles.get(text.toLowerCase()))

/** A switch that only these words turn on, in any case; the text shows whether another word was meant as yes. */
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

/** Unencrypted only within this machine: the session is encrypted, but the join is not. */
const webSocketUrl = Parser.make(
  "a wss address",
  (text) => {
    const url = NetworkParser.parseUrl(text, ["ws:", "wss:"])
    const isUsable =
      url !== undefined &&
      url.search + url.hash + url.username === "" &&
      (url.protocol === "wss:" || isLoopbackHost(url.hostname))
    return isUsable ? url : undefined
  },
  { example: "wss://portal.example.net/ws/channel" }
)

const grant = Parser.make(
  "a signed grant of 278 hex digits",
  (text) => Result.getOrUndefined(Result.map(Grant.fromHex(text), (decoded) => Redacted.make(decoded))),
  { isSecret: true, remedy: "copy the whole grant that the channel's operator has issued" }
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

export const services: Parser.Parser<ReadonlyArray<MarketService.Service>> = Parser.make(
  "a comma-separated list",
  (text) => Parser.list.parse(text)?.map(serviceOf)
)

const json = Parser.make("a JSON value", (text) => Result.getOrUndefined(Json.parse(text)), {
  example: `{"name":"ping","arguments":{}}`
})

/** The same key, or the reason why its tools are not offered. */
const bridgePeer = Parser.make("64 hex digits", (text) => ({ key: publicKey.parse(text) }))

const keys = {
  holderKey: optional(
    "CT_CHANNEL_HOLDER_KEY",
    privateKey("copy the private holder key that belongs to the grant"),
    "Private key of this holder; signs the broker's challenge and topology placements."
  ),
  noiseKey: required(
    "CT_CHANNEL_NOISE_KEY",
    privateKey("copy the private Noise key whose public half the channel knows"),
    "Private Noise key (X25519) of this member, different from the holder key.",
    { remedy: "set it to the private Noise key whose public half the channel knows, 64 hex digits" }
  )
}

/** How a member joins. */
const joining = {
  role: required("CT_CHANNEL_ROLE", role, "Role of this member: `initiate` begins sessions, `accept` accepts them."),
  address: optional(
    "CT_CHANNEL_ADDR",
    socketAddress,
    "Direct mode: address at which the accepting member listens and to which the other connects."
  ),
  peerNoiseKey: optional(
    "CT_CHANNEL_PEER_NOISE_KEY",
    publicKey,
    "Public Noise key that the peer must prove; required in direct mode."
  ),
  peerCertificate: optional(
    "CT_CHANNEL_PEER_CERT",
    certificate,
    "Direct mode over QUIC: the only certificate to accept; if unset, any is accepted, because the peer proves its " +
      "Noise key."
  ),
  broker: optional("CT_CHANNEL_BROKER", hostPort, "Address of the edge's broker; if unset, direct mode is used."),
  relay: optional("CT_CHANNEL_RELAY", hostPort, "Address of the edge's relay; required with the broker."),
  listen: optional("CT_CHANNEL_LISTEN", socketAddress, "Address at which this member listens for direct connections."),
  advertise: optional("CT_CHANNEL_ADVERTISE", hostPort, "Address at which peers reach CT_CHANNEL_LISTEN.", {
    standard: "CT_CHANNEL_LISTEN"
  }),
  relayOnly: optional("CT_CHANNEL_RELAY_ONLY", switchOf("1"), "Do not open a direct path.", {
    standard: "1 if the advertised address is not globally routable"
  }),
  frontDoor: optional(
    "CT_CHANNEL_FRONT_DOOR",
    hostPort,
    "Address of the edge's front door, port 443, tried after broker and relay."
  ),
  frontDoorCertificate: optional(
    "CT_CHANNEL_FRONT_DOOR_CERT",
    certificate,
    "Root certificate of the edge, from /pki/ca of the control plane."
  ),
  frontDoorOnly: optional(
    "CT_CHANNEL_FRONT_DOOR_ONLY",
    switchOf("1", "true", "yes"),
    "Connect only to the front door."
  ),
  portTransports: channelTransports,
  webSocket: optional(
    "CT_CHANNEL_WEBSOCKET",
    webSocketUrl,
    "WebSocket address of the edge, tried last, for networks that allow only web traffic."
  ),
  relayGate: optional(
    "CT_CHANNEL_RELAY_GATE",
    hostPort,
    "Front door of an edge with a relay node behind it; both members must set it."
  ),
  relayGateCertificate: optional(
    "CT_CHANNEL_RELAY_GATE_CERT",
    certificate,
    "Root certificate of CT_CHANNEL_RELAY_GATE."
  ),
  circuitRelay: optional(
    "CT_CHANNEL_CIRCUIT_RELAY",
    multiaddr,
    "Relay node that members connect to directly, without a gate; both members must set it."
  ),
  directUpgrade: optional(
    "CT_CHANNEL_DIRECT_UPGRADE",
    switchOf("1", "true", "yes"),
    "Move a relayed session to a direct connection if both members support it."
  ),
  postQuantum: defaulted(
    "CT_CHANNEL_POST_QUANTUM",
    Parser.literal(...policies),
    "prefer",
    "Post-quantum key exchange (ML-KEM-768 beside X25519) with the peer: `prefer`, `require`, or `off`. A peer that has used " +
      "it is refused without it; see `channel forget-peer`."
  ),
  channel: optional("CT_CHANNEL_ID", publicKey, "Id of the channel; optional with a grant, which contains it."),
  grant: optional("CT_CHANNEL_GRANT", grant, "Grant of the channel's operator for this holder.")
}

/** What a member offers to its peer. */
const serving = {
  serve: optional("CT_CHANNEL_SERVE", switchOf("1", "true"), "Serve tools to one peer after another."),
  concurrency: defaulted(
    "CT_CHANNEL_SERVE_CONCURRENCY",
    Parser.whole(1, 65_535),
    "8",
    "Number of sessions served at the same time.",
    { isLenient: true }
  ),
  handlerCommand: optional(
    "CT_AGENT_SERVICE_HANDLER_CMD",
    Parser.text,
    "Shell command that handles a service call: request on stdin, response on stdout."
  ),
  services: optional(
    "CT_AGENT_SERVICES",
    services,
    "Slugs of the services that CT_AGENT_SERVICE_HANDLER_CMD provides."
  ),
  handlerEnvironment: optional(
    "CT_AGENT_HANDLER_ENV",
    Parser.list,
    "Names of additional variables passed to handler commands and installed services."
  ),
  streamCommand: optional(
    "CT_AGENT_STREAM_HANDLER_CMD",
    Parser.text,
    "Shell command that receives each session as raw bytes, instead of the tools."
  ),
  streamService: optional(
    "CT_AGENT_STREAM_SERVICE",
    Parser.text,
    "Value of CT_SERVICE_TYPE for CT_AGENT_STREAM_HANDLER_CMD."
  ),
  bridgePeer: optional(
    "CT_CHANNEL_BRIDGE_PEER",
    bridgePeer,
    "Public Noise key of the peer that may use the bridge tools."
  ),
  isInstallDisabled: present(
    "CT_CHANNEL_BRIDGE_DISABLE_MANIFEST_INSTALL",
    "Refuse bridge/manifest-install if this variable is set, even to an empty value."
  )
}

/** A member's one-time call. */
const calling = {
  callService: optional(
    "CT_CHANNEL_CALL_SERVICE",
    Parser.text,
    "Service of the peer to call once, with stdin as input."
  ),
  call: optional("CT_CHANNEL_CALL", Parser.text, "MCP method of the peer to call once."),
  callParams: optional("CT_CHANNEL_CALL_PARAMS", json, "Parameters of CT_CHANNEL_CALL.", { needs: "CT_CHANNEL_CALL" })
}

export const variables = { ...joining, ...keys, ...serving, ...calling } as const
