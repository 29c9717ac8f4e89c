/** Variables of channels: listeners and limits. */
import { address as anyAddress } from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import { defaulted, optional } from "@catenet/platform/Variable"

/** What turns a switch off and lifts a cap, in any case. */
export const off = ["0", "off", "false", "none"] as const

const only1 = Parser.make("1; any other value means no", (text) => text === "1")

const address = Parser.quoted(Parser.described(anyAddress, { example: "127.0.0.1:4435" }))

export const whole = (name: string, minimum: number, maximum: number, standard: number, meaning: string) =>
  defaulted(
    name,
    Parser.quoted(Parser.described(Parser.whole(minimum, maximum), { remedy: `set it to something like ${standard}` })),
    String(standard),
    meaning
  )

/** A text that is no number means the default (data-plane 1.5). */
export const cap = (name: string, standard: number, meaning: string) =>
  defaulted(name, Parser.cap(...off), String(standard), meaning, { isLenient: true })

const identity = Parser.make(
  "1 to 128 visible ASCII characters",
  (text) => (/^[!-~]{1,128}$/.test(text) ? text : undefined),
  { example: "12D3KooWRelay" }
)

export const channelVariables = {
  channelBroker: optional(
    "CT_EDGE_CHANNEL_LISTEN",
    address,
    "Address of the channel broker, where members learn of each other, in addition to the front door."
  ),
  channelRelay: optional(
    "CT_EDGE_CHANNEL_RELAY_LISTEN",
    address,
    "Address of the channel relay, in addition to the front door.",
    { standard: "the port after that of CT_EDGE_CHANNEL_LISTEN" }
  ),
  channelWebSocket: optional(
    "CT_EDGE_WS_CHANNEL_LISTEN",
    address,
    "Address at which channel members connect over WebSocket, in addition to the front door."
  ),
  webSocketCert: optional(
    "CT_EDGE_WS_CHANNEL_CERT",
    Parser.path,
    "Certificate chain of that listener, PEM; if unset, WebSockets are served in plain text, for a proxy in front of the edge."
  ),
  webSocketKey: optional("CT_EDGE_WS_CHANNEL_KEY", Parser.path, "Private key of that listener, PEM."),
  webSocketMembers: cap(
    "CT_EDGE_MAX_WS_CHANNEL_CONNECTIONS",
    4_096,
    "Maximum number of WebSockets of channel members."
  ),
  relayUpstream: optional(
    "CT_EDGE_RELAY_UPSTREAM",
    address,
    "Address of the relay node that channel members reach through the front door."
  ),
  relayNodeIdentity: optional(
    "CT_EDGE_RELAY_NODE_PEER",
    identity,
    "Identity of the relay node, which members receive before they are relayed to it."
  ),
  channelMembers: cap(
    "CT_EDGE_MAX_CHANNEL_BROKER_CONNECTIONS",
    4_096,
    "Maximum number of channel members' connections."
  ),
  keepAliveParkSeconds: whole(
    "CT_EDGE_KA_PARK_TTL_SECS",
    1,
    3_600,
    30,
    "Seconds that a channel member waits for its peer in the keepalive dialect."
  ),
  requireAttestedEndpoint: defaulted(
    "CT_EDGE_REQUIRE_ATTESTED_ENDPOINT",
    only1,
    "0",
    "Refuse channel members that advertise an address other than the one they connect from; only 1 turns it on."
  )
} as const
