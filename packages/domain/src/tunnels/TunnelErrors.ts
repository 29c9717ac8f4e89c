/** Refusals of tunnels and of what hangs on them: alerts, access windows, share links, badges, receipts, the bridge. */
import { Schema } from "effect"
import { maxShareLinks } from "./ShareLink.ts"
import { alertBudget } from "./Alert.ts"
import { Count } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"

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

/** The claim of the tunnel's host name has not lapsed, so there is nothing to queue again. */
export class ClaimNotLapsed extends Problem<ClaimNotLapsed>()("ClaimNotLapsed", {
  status: 409,
  title: "Nothing to reclaim",
  detail: () => "The tunnel's place in the certificate queue has not lapsed."
}) {}

/** The account was not granted access, or not asked for it. */
export class GrantNotFound extends Problem<GrantNotFound>()("GrantNotFound", {
  status: 404,
  title: "Nothing to remove",
  detail: () => "The tunnel has no such entry."
}) {}

/** A field of an alert cannot be used. */
export class AlertRefused extends Problem<AlertRefused>()(
  "AlertRefused",
  {
    status: 400,
    title: "Alert refused",
    detail: ({ field, reason }) => `${field} ${reason}.`
  },
  { field: Schema.Literals(["webhook_url", "threshold_minutes"]), reason: Schema.String }
) {}

/** The tunnel has no alert. */
export class AlertNotFound extends Problem<AlertNotFound>()("AlertNotFound", {
  status: 404,
  title: "Alert not found",
  detail: () => "This tunnel has no alert."
}) {}

/** The hour's deliveries are spent. */
export class DeliveryBudgetSpent extends Problem<DeliveryBudgetSpent>()(
  "DeliveryBudgetSpent",
  {
    status: 429,
    title: "Delivery budget spent",
    detail: ({ retry_after }) =>
      `Your account has used its ${alertBudget} deliveries an hour; try again in ${retry_after} s.`
  },
  { retry_after: Count }
) {}

/** A field of an access window cannot be used. */
export class AccessRefused extends Problem<AccessRefused>()(
  "AccessRefused",
  {
    status: 400,
    title: "Access window refused",
    detail: ({ field, reason }) => `${field} ${reason}.`
  },
  { field: Schema.String, reason: Schema.String }
) {}

/** A share link lets visitors past a login gate, and the tunnel has none. */
export class LoginNotRequired extends Problem<LoginNotRequired>()("LoginNotRequired", {
  status: 400,
  title: "Login not required",
  detail: () => "Anyone can visit this tunnel; switch on its login requirement to share links to it."
}) {}

/** A share link names a host, and the tunnel has none. */
export class TunnelWithoutHostname extends Problem<TunnelWithoutHostname>()("TunnelWithoutHostname", {
  status: 400,
  title: "Tunnel without a host name",
  detail: () => "This tunnel has no host name to share a link to."
}) {}

/** A share link lets visitors past the gate of the edge, which sees requests of gelb hosts only. */
export class ShareLinkNeedsGelb extends Problem<ShareLinkNeedsGelb>()("ShareLinkNeedsGelb", {
  status: 400,
  title: "Not a gelb tunnel",
  detail: () => "The edge does not open the connections of this tunnel's visitors, so no link can let one in."
}) {}

/** A tunnel has at most 50 active share links. */
export class ShareLinkLimitReached extends Problem<ShareLinkLimitReached>()("ShareLinkLimitReached", {
  status: 400,
  title: "Share link limit reached",
  detail: () => `This tunnel has ${maxShareLinks} active share links; revoke one first.`
}) {}

/** Unknown, of another tunnel, or revoked already. */
export class ShareLinkNotFound extends Problem<ShareLinkNotFound>()("ShareLinkNotFound", {
  status: 404,
  title: "Share link not found",
  detail: () => "This tunnel has no such share link to revoke."
}) {}

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
    detail: ({ reason }) => `The receipts cannot be exported now: ${reason}.`
  },
  { reason: Schema.String }
) {}

/** The deployment has no identity of its own on channels. */
export class BridgeNotConfigured extends Problem<BridgeNotConfigured>()("BridgeNotConfigured", {
  status: 503,
  title: "Bridge not configured",
  detail: () => "This deployment has no bridge identity: CT_BRIDGE_HOLDER_KEY and CT_BRIDGE_NOISE_KEY are not set."
}) {}

/** Nobody deposited a grant for the bridge on this tunnel. */
export class BridgeGrantMissing extends Problem<BridgeGrantMissing>()("BridgeGrantMissing", {
  status: 404,
  title: "Bridge grant missing",
  detail: () => "No grant for the bridge is stored for this tunnel."
}) {}

/** The bridge could not reach the agent, or the agent refused the call. */
export class BridgeCallFailed extends Problem<BridgeCallFailed>()(
  "BridgeCallFailed",
  {
    status: 502,
    title: "Bridge call failed",
    detail: ({ reason }) => `The agent cannot be reached over the bridge: ${reason}.`
  },
  { reason: Schema.String }
) {}
