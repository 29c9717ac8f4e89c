/** The variables of a member's card and of its capacity offer. */
import * as Parser from "@catenet/config/Parser"
import { defaulted, optional } from "@catenet/config/Variable"
import * as Hex from "@catenet/crypto/Hex"
import { Result } from "effect"
import { services } from "./ChannelVariables.ts"

const keys = Parser.listOf(
  Parser.make("64 hex digits", (text) => Result.getOrUndefined(Hex.decode(text, 32))),
  "64 hex digits each, between commas"
)

/** `id|description` between semicolons, or an id alone. */
const skills = Parser.make(
  "entries of id|description between semicolons",
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

const mostUnsigned = 2n ** 64n - 1n
const unsigned = Parser.make("a whole number below 2^64", (text) => {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : undefined
  return value !== undefined && value <= mostUnsigned ? value : undefined
})

const seconds = Parser.whole(1, 4_294_967_295)

export const card = {
  cardRoles: optional(
    "CT_AGENT_CARD_ROLES",
    Parser.list,
    "Role tags of this agent's card, offered as the tool agent/card."
  ),
  cardSkills: optional("CT_AGENT_CARD_SKILLS", skills, "Skills that the card names."),
  cardCells: optional("CT_AGENT_CARD_CELLS", keys, "Cells that the card names."),
  cardChannels: optional("CT_AGENT_CARD_CHANNELS", keys, "Channels that the card names."),
  cardTtlSecs: defaulted("CT_AGENT_CARD_TTL_SECS", seconds, "86400", "How long a card is valid.")
}

export const offer = {
  offerKind: optional("CT_AGENT_OFFER_KIND", kind, "What is offered: `cloud` quota or `local` hardware."),
  offerModels: optional("CT_AGENT_OFFER_MODELS", Parser.list, "Models offered, at least one."),
  offerUnits: optional("CT_AGENT_OFFER_UNITS", unsigned, "Units offered."),
  offerMinPrice: optional("CT_AGENT_OFFER_MIN_PRICE", unsigned, "The least total price of a bid."),
  offerCurrency: optional("CT_AGENT_OFFER_CURRENCY", Parser.text, "Id of the currency."),
  offerTtlSecs: defaulted("CT_AGENT_OFFER_TTL_SECS", seconds, "86400", "How long an offer is valid."),
  offerServices: optional(
    "CT_AGENT_OFFER_SERVICES",
    services,
    "Services that the offer declares; no others are served."
  ),
  offerMaxBids: defaulted(
    "CT_AGENT_OFFER_MAX_BIDS",
    Parser.whole(0, 4_294_967_295),
    "60",
    "Bids of one peer in a window."
  ),
  offerWindowSecs: defaulted(
    "CT_AGENT_OFFER_WINDOW_SECS",
    Parser.whole(0, 4_294_967_295),
    "60",
    "Seconds of that window; 0 is one window without end."
  )
}
