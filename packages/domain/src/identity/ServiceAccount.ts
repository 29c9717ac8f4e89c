/** A machine credential: a client of the identity provider that stands for itself, owned by the account that made it. */
import { Result, Schema, SchemaGetter } from "effect"
import { UnixSeconds } from "../values/Numbers.ts"
import { pattern } from "../values/Pattern.ts"
import { type Step } from "../values/Step.ts"
import { label } from "../values/Text.ts"
import { ClientSecret } from "../values/Tokens.ts"
import { IdentityProviderFailed, ServiceAccountLimitReached } from "./ServiceAccountErrors.ts"

/** Made by the service: `sa-` and 32 hex. */
export const ClientId = Schema.String.check(pattern(/^sa-[0-9a-f]{32}$/u, "sa- and 32 hex digits")).pipe(
  Schema.brand("ClientId")
)
export type ClientId = typeof ClientId.Type

const isClientId = Schema.is(ClientId)
const unknownClient = ClientId.make(`sa-${"0".repeat(32)}`)

/** As the ids of `Ids.ts`: what is no client id becomes one that is never issued. */
export const ClientIdInPath = Schema.String.pipe(
  Schema.decodeTo(Schema.toType(ClientId), {
    decode: SchemaGetter.transform((text: string) => (isClientId(text) ? text : unknownClient)),
    encode: SchemaGetter.transform((id: ClientId) => id)
  })
)

/** Most service accounts of one account. */
export const maxServiceAccounts = 50

export const ServiceAccountName = label(200)

/** As it is listed; the secret is never in a list. */
export class ServiceAccount extends Schema.Class<ServiceAccount>("ServiceAccount")({
  client_id: ClientId,
  name: ServiceAccountName,
  created_at: UnixSeconds
}) {}

/** A fresh service account; the secret is in this answer only. */
export class CreatedServiceAccount extends Schema.Class<CreatedServiceAccount>("CreatedServiceAccount")({
  client_id: ClientId,
  secret: ClientSecret
}) {}

/** `reserved`: client id to the unix second of the reservation. */
export interface Quota {
  readonly reserved: ReadonlyMap<ClientId, number>
  readonly active: ReadonlySet<ClientId>
}

/** `Release` gives a place back: the provider failed, or the service account was deleted. */
export type QuotaEvent =
  | { readonly _tag: "Reserve"; readonly clientId: ClientId }
  | { readonly _tag: "Activate"; readonly clientId: ClientId }
  | { readonly _tag: "Release"; readonly clientId: ClientId }

/** A reservation that is too old is lost: the client that was made at the provider has to be deleted there. */
export type QuotaRefusal = ServiceAccountLimitReached | IdentityProviderFailed

/** Seconds a reservation holds. */
export const reservationSeconds = 600

/** No service account yet. */
export const emptyQuota: Quota = { reserved: new Map(), active: new Set() }

/**
 * The machine of the places. A place is reserved before the identity provider is asked, so that two requests at once
 * cannot take the last one; a reservation that is never completed is given back by time.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { emptyQuota, transition } from "@catenet/domain/identity/ServiceAccount"
 *
 * const clientId = `sa-${"0".repeat(32)}`
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
      if (taken.size >= maxServiceAccounts) {
        return Result.fail(new ServiceAccountLimitReached({ limit: maxServiceAccounts }))
      }
      return Result.succeed({ next: { active, reserved: reserved.set(clientId, now) }, effects: [] })
    }
    case "Activate": {
      if (!reserved.delete(clientId)) return Result.fail(new IdentityProviderFailed())
      return Result.succeed({ next: { active: new Set(active).add(clientId), reserved }, effects: [] })
    }
    case "Release": {
      reserved.delete(clientId)
      return Result.succeed({ next: { active: active.difference(new Set([clientId])), reserved }, effects: [] })
    }
  }
}
