/** What an operator limits for each account: a setting holds for all accounts, and an operator can give one account another limit. */
import { Schema } from "effect"
import { Subject } from "../values/Ids.ts"
import { Count } from "../values/Numbers.ts"
import { literal } from "../values/Pattern.ts"

/** `ports`: tunnels with a public port. `hosts`: tunnels with a host name of the account's own, proved or not. `rules`: of all tunnels. */
export const limited = ["tunnels", "channels", "ports", "hosts", "rules"] as const
export const Limited = literal(limited)
export type Limited = typeof Limited.Type

/** As many as a column of the database holds. */
export const AccountLimit = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))
/** Null is the setting of all accounts. */
const limit = Schema.optionalKey(Schema.NullOr(AccountLimit))

export class AccountLimits extends Schema.Class<AccountLimits>("AccountLimits")({
  subject: Subject,
  max_tunnels: Count,
  max_channels: Count,
  max_ports: Count,
  max_hosts: Count,
  max_rules: Count
}) {}

/** Limits that are absent stay as they are. */
export class AccountLimitsChange extends Schema.Class<AccountLimitsChange>("AccountLimitsChange")({
  max_tunnels: limit,
  max_channels: limit,
  max_ports: limit,
  max_hosts: limit,
  max_rules: limit
}) {}
