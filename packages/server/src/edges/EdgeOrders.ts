/**
 * Orders to edges about one tunnel, as the outbox keeps them. Every order states how things are to be, so that delivering
 * one twice does no harm. The routing token is the name of the queue and is not repeated in the order.
 */
import type { AdmissionEffect } from "@catenet/domain/certificates/Admission"
import type { EdgeOrder } from "@catenet/domain/edges/EdgeOrder"
import type { Hostname } from "@catenet/domain/values/Hostname"
import { UnixSeconds } from "@catenet/domain/values/Numbers"

/** How the edge is to serve the hostname from now on. */
export const authorizeHost = (
  hostname: Hostname,
  { admissionUntil, tier }: Omit<Extract<AdmissionEffect, { readonly _tag: "SetTier" }>, "_tag">
): EdgeOrder => ({
  _tag: "AuthorizeHost",
  hostname,
  tier,
  ...(admissionUntil === undefined ? {} : { admissionUntil: UnixSeconds.make(admissionUntil) })
})

/**
 * What a call says the state of. A later call about the same makes an earlier one that no edge has taken needless; null
 * where each call counts.
 */
export const aboutOf = (call: EdgeOrder): string | null => {
  switch (call._tag) {
    case "AuthorizeHost":
      return `host ${call.hostname}`
    case "SetOptions":
    case "SetAccessPolicy":
    case "SetAgentKeys":
    case "SetLogin":
      return call._tag
    case "CutMembers":
      return `members ${call.holder ?? ""}${call.keeps === undefined ? "" : " by another grant"}`
    case "Revoke":
      return null
  }
}
