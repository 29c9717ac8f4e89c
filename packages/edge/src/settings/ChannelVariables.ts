/** The variables of channels: where their members join, and what is bounded. */
import * as Parser from "@catenet/config/Parser"
import { defaulted } from "@catenet/config/Variable"

const off = ["0", "off", "false", "none"] as const

const only1 = Parser.make("1, or anything else for no", (text) => text === "1", { example: "1" })

export const channelVariables = {
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
