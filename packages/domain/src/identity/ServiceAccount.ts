/** A machine credential: a client of the identity provider that stands for itself, owned by the account that made it. */
import { Result, Schema, SchemaGetter } from "effect"
import { UnixSeconds } from "../values/Numbers.ts"
import { describedAs, pattern, portable } from "../values/Pattern.ts"
import { label } from "../values/Text.ts"
import { ClientSecret } from "../values/Tokens.ts"
import { ServiceAccountLimitReached } from "./AuthenticationErrors.ts"

/** Made by the service: `sa-` and 32 hex. */
const form = /^sa-[0-9a-f]{32}$/u
export const ClientId = Schema.String.check(pattern(form, "sa- and 32 hex digits")).pipe(Schema.brand("ClientId"))
export type ClientId = typeof ClientId.Type

const isClientId = Schema.is(ClientId)
const unknownClient = ClientId.make(`sa-${"0".repeat(32)}`)

/** As the ids of `Ids.ts`: what is no client id becomes one that is never issued. */
export const ClientIdInPath = Schema.String.check(describedAs({ ...portable(form) })).pipe(
  Schema.decodeTo(Schema.toType(ClientId), {
    decode: SchemaGetter.transform((text: string) => (isClientId(text) ? text : unknownClient)),
    encode: SchemaGetter.transform((id: ClientId) => id)
  })
)

/** Most service accounts of one account. */
export const maxServiceAccounts = 50

/** Characters of the name of a service account. */
export const maxServiceAccountName = 200

export const ServiceAccountName = label(maxServiceAccountName)

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

/**
 * A place of an owner: `reservedAt` is null where its service account exists, or is being deleted at the provider. A
 * reservation becomes an account once the provider has made the client.
 */
export interface Place {
  readonly place: number
  readonly reservedAt: number | null
}

/** Seconds a reservation holds. A client of one that is too old is deleted at the provider. */
export const reservationSeconds = 600

/**
 * Reserves the lowest free place. A place is reserved before the identity provider is asked, so that two requests at once
 * cannot take the last one; a reservation that is never completed is given back by time.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { reserve } from "@catenet/domain/identity/ServiceAccount"
 *
 * const taken = [{ place: 1, reservedAt: null }, { place: 2, reservedAt: 1000 }]
 * assert.deepEqual(reserve(taken, 1599), Result.succeed({ place: 3, reservedAt: 1599 }))
 * assert.deepEqual(reserve(taken, 1600), Result.succeed({ place: 2, reservedAt: 1600 }))
 * ```
 */
export const reserve = (
  places: ReadonlyArray<Place>,
  now: number
): Result.Result<{ readonly place: number; readonly reservedAt: number }, ServiceAccountLimitReached> => {
  const held = places.filter(({ reservedAt }) => reservedAt === null || now - reservedAt < reservationSeconds)
  const taken = new Set(held.map(({ place }) => place))
  let place = 1
  while (taken.has(place)) place++
  return place > maxServiceAccounts
    ? Result.fail(new ServiceAccountLimitReached({ limit: maxServiceAccounts }))
    : Result.succeed({ place, reservedAt: now })
}
