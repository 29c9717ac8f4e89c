/** The variables of channels: where their members join, and what is bounded. */
import { address as anyAddress } from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import { defaulted, optional } from "@catenet/platform/Variable"

const off = ["0", "off", "false", "none"] as const

const only1 = Parser.make("1, or anything else for no", (text) => text === "1", { example: "1" })

const address = Parser.quoted(Parser.described(anyAddress, { example: "127.0.0.1:4435" }))

const identity = Parser.make(
  "1 to 128 visible ASCII characters",
  (text) => (/^[!-~]{1,128}$/.test(text) ? text : undefined),
  { example: "12D3KooWRelay" }
)

export const channelVariables = {
  channelBrokerAddress: optional(
    "CT_EDGE_CHANNEL_LISTEN",
    address,
    "Where members of channels join to learn of each other, beside the front door."
  ),
  channelRelayAddress: optional(
    "CT_EDGE_CHANNEL_RELAY_LISTEN",
    address,
    "Where members of channels join to be relayed, beside the front door.",
    { standard: "the port after that of `CT_EDGE_CHANNEL_LISTEN`" }
  ),
  webSocketAddress: optional(
    "CT_EDGE_WS_CHANNEL_LISTEN",
    address,
    "Where members of channels join by WebSocket, beside the front door."
  ),
  webSocketCert: optional(
    "CT_EDGE_WS_CHANNEL_CERT",
    Parser.path,
    "Its certificate chain, PEM; without it WebSockets are served in plain, for a proxy before the edge."
  ),
  webSocketKey: optional("CT_EDGE_WS_CHANNEL_KEY", Parser.path, "Its private key, PEM."),
  webSocketConnections: defaulted(
    "CT_EDGE_MAX_WS_CHANNEL_CONNECTIONS",
    Parser.cap(...off),
    "4096",
    "WebSockets of members of channels at once.",
    { isLenient: true }
  ),
  relayUpstream: optional(
    "CT_EDGE_RELAY_UPSTREAM",
    address,
    "The relay node behind the front door; members of channels reach it through the edge."
  ),
  relayNodeIdentity: optional(
    "CT_EDGE_RELAY_NODE_PEER",
    identity,
    "The identity of that node, which members hear before they talk to it."
  ),
  channelBroker: defaulted(
    "CT_EDGE_MAX_CHANNEL_BROKER_CONNECTIONS",
    Parser.cap(...off),
    "4096",
    "Connections of members of channels at once.",
    { isLenient: true }
  ),
  keepAliveParkSeconds: defaulted(
    "CT_EDGE_KA_PARK_TTL_SECS",
    Parser.quoted(Parser.described(Parser.whole(1, 3_600), { remedy: "set it to something like 30" })),
    "30",
    "How long a member of a channel waits for its peer where the connection is kept alive."
  ),
  requireAttestedEndpoint: defaulted(
    "CT_EDGE_REQUIRE_ATTESTED_ENDPOINT",
    only1,
    "0",
    "Refuse members of channels that advertise another address than the one they are seen from; only 1 turns it on."
  )
} as const
