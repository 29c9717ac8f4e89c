/** Machine credentials of an account. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import {
  IdentityProviderFailed,
  IdentityProviderNotConfigured,
  ServiceAccountLimitReached,
  ServiceAccountNotFound
} from "../identity/AuthenticationErrors.ts"
import {
  ClientIdInPath,
  CreatedServiceAccount,
  ServiceAccount,
  ServiceAccountName
} from "../identity/ServiceAccount.ts"
import { IdempotencyKeyReused } from "../values/RequestErrors.ts"
import { ClientSecret } from "../values/Tokens.ts"
import { BearerAccess, RateLimit } from "./Access.ts"
import { idempotencyHeader } from "./Idempotency.ts"
import { pageQuery } from "./Page.ts"
import { ReadsBody, ReadsParameters } from "./RequestReading.ts"

const account = { client_id: ClientIdInPath }
const provider = [IdentityProviderFailed, IdentityProviderNotConfigured] as const

export class ServiceAccountsApi extends HttpApiGroup.make("serviceAccounts")
  .add(
    HttpApiEndpoint.post("create", "/me/service-accounts", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ name: ServiceAccountName }),
      success: CreatedServiceAccount,
      error: [ServiceAccountLimitReached, IdempotencyKeyReused, ...provider]
    }).middleware(ReadsBody),
    HttpApiEndpoint.get("list", "/me/service-accounts", {
      query: pageQuery,
      success: Schema.Array(ServiceAccount)
    }).middleware(ReadsParameters),
    HttpApiEndpoint.get("get", "/me/service-accounts/:client_id", {
      params: account,
      success: ServiceAccount,
      error: ServiceAccountNotFound
    }),
    HttpApiEndpoint.post("rotate", "/me/service-accounts/:client_id/rotate", {
      params: account,
      success: Schema.Struct({ secret: ClientSecret }),
      error: [ServiceAccountNotFound, ...provider]
    }),
    HttpApiEndpoint.delete("remove", "/me/service-accounts/:client_id", {
      params: account,
      success: HttpApiSchema.NoContent,
      error: [ServiceAccountNotFound, ...provider]
    })
  )
  .middleware(RateLimit)
  .middleware(BearerAccess) {}
