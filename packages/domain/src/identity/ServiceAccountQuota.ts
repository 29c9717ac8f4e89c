/**
 * How many service accounts one account may have. A place is reserved before the identity provider is asked, so that two
 * requests at once cannot take the last one; a reservation that nobody completes is given back by time.
 */
import { type Result } from "effect"
import { refuse, step, type Step } from "../values/Step.ts"

/** `reserved`: client id to the unix second of the reservation. */
export interface Quota {
  readonly reserved: ReadonlyMap<string, number>
  readonly active: ReadonlySet<string>
}

/** `Release` gives a place back: the provider failed, or the service account was deleted. */
export type QuotaEvent =
  | { readonly _tag: "Reserve"; readonly clientId: string }
  | { readonly _tag: "Activate"; readonly clientId: string }
  | { readonly _tag: "Release"; readonly clientId: string }

/** `ReservationLost`: it was too old; the client that was made at the provider has to be deleted there. */
export type QuotaRefusal =
  { readonly _tag: "QuotaReached"; readonly limit: number } | { readonly _tag: "ReservationLost" }

/** Places of one account. */
export const serviceAccountLimit = 50

/** Seconds a reservation holds. */
export const reservationSeconds = 600

/** No service account yet. */
export const emptyQuota: Quota = { reserved: new Map(), active: new Set() }

/**
 * The machine.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { emptyQuota, transition } from "@catenet/domain/identity/ServiceAccountQuota"
 *
 * const clientId = "sa-00"
 * const reserved = Result.getOrThrow(transition(emptyQuota, { _tag: "Reserve", clientId }, 1000)).next
 * assert.ok(Result.getOrThrow(transition(reserved, { _tag: "Activate", clientId }, 1599)).next.active.has(clientId))
 * assert.ok(Result.isFailure(transition(reserved, { _tag: "Activate", clientId }, 1600)))
 * ```
 */
export const transition = (
  quota: Quota,
  { _tag, clientId }: QuotaEvent,
  now: number
): Result.Result<Step<Quota, never>, QuotaRefusal> => {
  const reserved = new Map([...quota.reserved].filter(([, at]) => now - at < reservationSeconds))
  const { active } = quota
  switch (_tag) {
    case "Reserve": {
      const taken = new Set([...active, ...reserved.keys()])
      if (taken.size >= serviceAccountLimit) return refuse({ _tag: "QuotaReached", limit: serviceAccountLimit })
      return step({ active, reserved: reserved.set(clientId, now) })
    }
    case "Activate": {
      if (!reserved.delete(clientId)) return refuse({ _tag: "ReservationLost" })
      return step({ active: new Set(active).add(clientId), reserved })
    }
    case "Release": {
      reserved.delete(clientId)
      return step({ active: active.difference(new Set([clientId])), reserved })
    }
  }
}
