/** An account's credits, what it bought with them, its own audit entries, and its end. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { CreditsOutOfRange, InsufficientCredits, PriceBelowOne } from "../billing/CreditErrors.ts"
import { Account, Issuance, PaymentIntent } from "../billing/Credits.ts"
import { AuditEntry } from "../identity/AuditEntry.ts"
import { IdempotencyKey, PaymentId } from "../values/Ids.ts"
import { literal } from "../values/Pattern.ts"
import { IdempotencyKeyReused, LimitReached } from "../values/RequestErrors.ts"
import { RoutingToken } from "../values/Tokens.ts"
import { AccountAccess, BearerAccess, RateLimit, SameOrigin } from "./Access.ts"
import { idempotencyHeader } from "./Idempotency.ts"
import { pageQuery } from "./Page.ts"
import { exactBody, ReadsBody, ReadsParameters } from "./RequestReading.ts"

/** What a person types who means to delete an account. */
export const DeleteConfirmation = literal(["DELETE"])

export class CreditsApi extends HttpApiGroup.make("credits")
  .add(
    HttpApiEndpoint.get("account", "/me/account", { success: Account }),
    HttpApiEndpoint.post("issue", "/me/issue", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ price: Schema.Int, idempotency_key: Schema.optionalKey(IdempotencyKey) }),
      success: Schema.Struct({ token: RoutingToken }),
      error: [PriceBelowOne, InsufficientCredits, IdempotencyKeyReused]
    }).middleware(ReadsBody),
    HttpApiEndpoint.get("listIssued", "/me/issue", { query: pageQuery, success: Schema.Array(Issuance) }).middleware(
      ReadsParameters
    )
  )
  .middleware(RateLimit)
  .middleware(BearerAccess) {}

export class AccountsApi extends HttpApiGroup.make("accounts")
  .add(
    /** The balance changes when the provider's signed event confirms the payment. */
    HttpApiEndpoint.post("buyCredits", "/me/account/credits", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ credits: Schema.Int }),
      success: Schema.Struct({ payment: PaymentId }),
      error: [CreditsOutOfRange, IdempotencyKeyReused, LimitReached]
    }).middleware(ReadsBody),
    HttpApiEndpoint.post("remove", "/me/account/delete", {
      payload: Schema.Struct({ confirm: DeleteConfirmation }),
      success: HttpApiSchema.Empty(200)
    }).middleware(ReadsBody)
  )
  .middleware(SameOrigin)
  .add(
    HttpApiEndpoint.get("listPayments", "/me/account/credits", {
      query: pageQuery,
      success: Schema.Array(PaymentIntent)
    }).middleware(ReadsParameters),
    HttpApiEndpoint.get("auditLog", "/me/audit-log", {
      query: pageQuery,
      success: Schema.Array(AuditEntry)
    }).middleware(ReadsParameters)
  )
  .annotateEndpointsMerge(exactBody)
  .middleware(RateLimit)
  .middleware(AccountAccess) {}
