/** Variables of the agent bridge: the private halves of its keys. */
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import { optional } from "@catenet/platform/Variable"

const channelPort = Parser.described(NetworkParser.address, { example: "edge.example.net:4435" })

export const variables = {
  bridgeHolderKey: optional(
    "CT_BRIDGE_HOLDER_KEY",
    SecretParser.secretBytes,
    "Private holder key of the agent bridge."
  ),
  bridgeNoiseKey: optional("CT_BRIDGE_NOISE_KEY", SecretParser.secretBytes, "Private Noise key of the agent bridge."),
  channelBroker: optional("CT_CHANNEL_BROKER", channelPort, "Address of the edge's broker, for the agent bridge."),
  channelRelay: optional("CT_CHANNEL_RELAY", channelPort, "Address of the edge's relay, for the agent bridge.", {
    standard: "the port after that of `CT_CHANNEL_BROKER`"
  }),
  channelFrontDoor: optional(
    "CT_CHANNEL_FRONT_DOOR",
    channelPort,
    "Address of the edge's front door, which the agent bridge tries after the broker, or alone if there is no broker."
  )
} as const
