/** Who calls: tokens, sessions and sign-ins, service accounts, and the audit log. */
import { Layer } from "effect"
import { AccessTokens } from "./AccessTokens.ts"
import { Audits } from "./Audits.ts"
import { EmailDomains } from "./EmailDomains.ts"
import { KeySet } from "./KeySet.ts"
import { ServiceAccounts } from "./ServiceAccounts.ts"
import { Sessions } from "./Sessions.ts"
import { SignIns } from "./SignIns.ts"

export const layer = Layer.mergeAll(
  AccessTokens.layer,
  Audits.layer,
  EmailDomains.layer,
  KeySet.layer,
  ServiceAccounts.layer,
  Sessions.layer,
  SignIns.layer
)
