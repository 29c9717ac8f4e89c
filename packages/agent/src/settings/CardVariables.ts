/** Variables of `channel agent-card`: the card, its destination, and the account that registers it. */
import * as Parser from "@catenet/platform/Parser"
import { secretBytes } from "@catenet/platform/SecretParser"
import { required } from "@catenet/platform/Variable"
import * as LoginVariables from "./LoginVariables.ts"
import * as MarketVariables from "./MarketVariables.ts"

export const agentCard = {
  ...MarketVariables.card,
  ...MarketVariables.cardFile,
  cardRoles: required("CT_AGENT_CARD_ROLES", MarketVariables.namesBetweenCommas, "Role tags of this agent's card."),
  holderKey: required(
    "CT_CHANNEL_HOLDER_KEY",
    Parser.described(secretBytes, { expected: "a key of 64 hex characters", remedy: undefined }),
    "Private holder key that signs the card."
  ),
  ...LoginVariables.account
} as const
