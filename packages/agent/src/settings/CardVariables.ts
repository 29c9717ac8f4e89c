/** Variables of `channel agent-card`: the card, its destination, and the account that registers it. */
import { asRequired, required } from "@catenet/platform/Variable"
import { signingKey } from "./KeyParsers.ts"
import * as LoginVariables from "./LoginVariables.ts"
import * as MarketVariables from "./MarketVariables.ts"

export const agentCard = {
  ...MarketVariables.card,
  ...MarketVariables.cardFile,
  cardRoles: asRequired(MarketVariables.card.cardRoles, { meaning: "Role tags of this agent's card." }),
  holderKey: required("CT_CHANNEL_HOLDER_KEY", signingKey, "Private holder key that signs the card."),
  ...LoginVariables.account
} as const
