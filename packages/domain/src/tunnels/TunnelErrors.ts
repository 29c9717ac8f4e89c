/** Refusals of tunnels and of what hangs on them: access windows, badges, receipts. */
import { Schema } from "effect"
import { Count } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"
import { clause } from "../values/Sentence.ts"

/** Foreign or unknown; one answer for both. */
export class TunnelNotFound extends Problem<TunnelNotFound>()("TunnelNotFound", {
  status: 404,
  title: "Tunnel not found",
  detail: () => "No tunnel of yours has this id."
}) {}

/** The account has as many tunnels as it may have. */
export class TunnelLimitReached extends Problem<TunnelLimitReached>()(
  "TunnelLimitReached",
  {
    status: 403,
    title: "Tunnel limit reached",
    detail: ({ limit }) => `Your account has ${limit} tunnels, which is its limit.`
  },
  { limit: Count }
) {}

/** The account was not granted access, or not asked for it. */
export class GrantNotFound extends Problem<GrantNotFound>()("GrantNotFound", {
  status: 404,
  title: "Nothing to remove",
  detail: () => "The tunnel has no such entry."
}) {}

/** A field of an access window cannot be used. */
export class AccessRefused extends Problem<AccessRefused>()(
  "AccessRefused",
  {
    status: 400,
    title: "Access window refused",
    detail: ({ field, reason }) => `${field} ${clause(reason)}.`
  },
  { field: Schema.String, reason: Schema.String }
) {}

/** Anything but the exact public id of an enabled badge. */
export class BadgeNotFound extends Problem<BadgeNotFound>()("BadgeNotFound", {
  status: 404,
  title: "Badge not found",
  detail: () => "There is no such badge."
}) {}

/** The edge did not supply the receipts. */
export class ReceiptsUnavailable extends Problem<ReceiptsUnavailable>()(
  "ReceiptsUnavailable",
  {
    status: 502,
    title: "Receipts unavailable",
    detail: ({ reason }) => `The receipts cannot be exported now: ${clause(reason)}.`
  },
  { reason: Schema.String }
) {}
