/** A machine credential: a client of the identity provider that stands for itself, owned by the account that made it. */
import { Schema, SchemaGetter } from "effect"
import { form } from "../values/Pattern.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { label } from "../values/Text.ts"
import { ClientSecret } from "../values/Tokens.ts"

/** Made by the service: `sa-` and 32 hex. */
export const ClientId = Schema.String.check(form(/^sa-[0-9a-f]{32}$/u, "sa- and 32 hex digits")).pipe(
  Schema.brand("ClientId")
)
export type ClientId = typeof ClientId.Type

const isClientId = Schema.is(ClientId)
const nobody = ClientId.make(`sa-${"0".repeat(32)}`)

/** As the ids of `Ids.ts`: what is no client id becomes one that is never issued. */
export const ClientIdInPath = Schema.String.pipe(
  Schema.decodeTo(Schema.toType(ClientId), {
    decode: SchemaGetter.transform((text: string) => (isClientId(text) ? text : nobody)),
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
