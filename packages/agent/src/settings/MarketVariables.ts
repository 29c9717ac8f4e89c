/** Variables of a member's card and capacity offer. */
import * as Parser from "@catenet/platform/Parser"
import { secretBytes } from "@catenet/platform/SecretParser"
import { asRequired, defaulted, optional, required } from "@catenet/platform/Variable"
import { publicKey, signingKey } from "./KeyParsers.ts"
import { services } from "./MemberVariables.ts"

/** A list of nothing but commas names nothing. */
const namesBetweenCommas = Parser.make("one or more names, separated by commas", (text) => {
  const names = Parser.list.parse(text) ?? []
  return names.length > 0 ? names : undefined
})

const keys = Parser.listOf(publicKey, "64 hex digits each, separated by commas")

/** `id|description` between semicolons, or an id alone. */
const skills = Parser.make(
  "id|description entries separated by semicolons",
  (text) =>
    text
      .split(";")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "")
      .map((entry) => {
        const at = entry.indexOf("|")
        return at < 0
          ? { id: entry, description: "", examples: [] }
          : { id: entry.slice(0, at).trim(), description: entry.slice(at + 1).trim(), examples: [] }
      }),
  { example: "translate|Translates a text;summarize" }
)

const kinds = { cloud: "CloudApiQuota", local: "LocalHardware" } as const
const kind = Parser.make("cloud or local", (text) => (text === "cloud" || text === "local" ? kinds[text] : undefined))

const maxUnsigned = 2n ** 64n - 1n
const unsigned = Parser.make("a whole number below 2^64", (text) => {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : undefined
  return value !== undefined && value <= maxUnsigned ? value : undefined
})

const seconds = Parser.whole(1, 4_294_967_295)

export const card = {
  cardRoles: optional(
    "CT_AGENT_CARD_ROLES",
    namesBetweenCommas,
    "Role tags in this agent's card, which is offered as the tool agent/card."
  ),
  cardSkills: optional("CT_AGENT_CARD_SKILLS", skills, "Skills in the card."),
  cardCells: optional("CT_AGENT_CARD_CELLS", keys, "Cells in the card."),
  cardChannels: optional("CT_AGENT_CARD_CHANNELS", keys, "Channels in the card."),
  cardTtlSecs: defaulted("CT_AGENT_CARD_TTL_SECS", seconds, "86400", "Seconds for which a card is valid.")
}

const httpsAddress = Parser.make(
  "an https address",
  (text) => (text.length <= 2048 && text.startsWith("https://") && URL.canParse(text) ? text : undefined),
  { example: "https://agent.example/.well-known/agent-card.json" }
)

/** Only of `channel agent-card`: the card's destination, and fields that A2A needs. */
export const cardFile = {
  cardOut: defaulted(
    "CT_AGENT_CARD_OUT",
    Parser.path,
    ".",
    "Folder in which agent-card writes .well-known/agent-card.json."
  ),
  cardUrl: optional(
    "CT_AGENT_CARD_URL",
    httpsAddress,
    "Public URL of the card; agent-card registers it in the directory."
  ),
  adminToken: optional(
    "CT_CP_EDGE_ADMIN_TOKEN",
    secretBytes,
    "Admin token with which agent-card registers as the operator; if unset, it registers as a user."
  ),
  cardName: optional("CT_AGENT_CARD_NAME", Parser.text, "Name in an A2A card.", { standard: "the first role" }),
  cardDescription: optional("CT_AGENT_CARD_DESCRIPTION", Parser.text, "Description of the agent in an A2A card.", {
    standard: "a sentence with its roles"
  }),
  cardVersion: defaulted("CT_AGENT_CARD_VERSION", Parser.text, "1.0.0", "Version of the agent in an A2A card."),
  cardA2aUrl: optional("CT_AGENT_CARD_A2A_URL", httpsAddress, "URL of the agent's A2A endpoint (JSON-RPC).", {
    standard: "the origin of CT_AGENT_CARD_URL"
  })
}

export const offer = {
  offerKind: optional("CT_AGENT_OFFER_KIND", kind, "What is offered: `cloud` quota or `local` hardware."),
  offerModels: optional("CT_AGENT_OFFER_MODELS", namesBetweenCommas, "Models offered; at least one."),
  offerUnits: optional("CT_AGENT_OFFER_UNITS", unsigned, "Units offered."),
  offerMinPrice: optional("CT_AGENT_OFFER_MIN_PRICE", unsigned, "Minimum total price of a bid."),
  offerCurrency: optional("CT_AGENT_OFFER_CURRENCY", Parser.text, "Id of the currency."),
  offerTtlSecs: defaulted("CT_AGENT_OFFER_TTL_SECS", seconds, "86400", "Seconds for which an offer is valid."),
  offerServices: optional("CT_AGENT_OFFER_SERVICES", services, "Services in the offer; only these are served."),
  offerMaxBids: defaulted(
    "CT_AGENT_OFFER_MAX_BIDS",
    Parser.whole(0, 4_294_967_295),
    "60",
    "Number of bids that one peer may make in a window."
  ),
  offerWindowSecs: defaulted(
    "CT_AGENT_OFFER_WINDOW_SECS",
    Parser.whole(0, 4_294_967_295),
    "60",
    "Length of that window in seconds; 0 for a single window without end."
  )
}

/** Of `offer`, which has nothing to print without them. */
export const signedOffer = {
  holderKey: required("CT_CHANNEL_HOLDER_KEY", signingKey, "Private holder key that signs the offer."),
  offerKind: asRequired(offer.offerKind),
  offerModels: asRequired(offer.offerModels),
  offerUnits: asRequired(offer.offerUnits),
  offerMinPrice: asRequired(offer.offerMinPrice),
  offerCurrency: asRequired(offer.offerCurrency),
  offerTtlSecs: offer.offerTtlSecs,
  offerServices: offer.offerServices
}
