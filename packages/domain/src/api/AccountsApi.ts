/**
 * An account: credits and payments, service accounts, its audit entries and its deletion; and what operators provision
 * and limit for accounts.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  AccountUnknown,
  CreditsOutOfRange,
  InsufficientCredits,
  PaymentUnknown,
  PriceBelowOne,
  WebhookSignatureRefused
} from "../billing/CreditErrors.ts"
import { Account, Issuance, PaymentIntent } from "../billing/Credits.ts"
import { EdgeUnavailable } from "../edges/EdgeErrors.ts"
import { AccountLimit, AccountLimits, AccountLimitsChange } from "../identity/AccountLimits.ts"
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
import { HostnameReserved, HostnameTaken, RoutingTokenRevoked } from "../tunnels/HostnameErrors.ts"
import { TunnelOfSubject } from "../tunnels/Tunnel.ts"
import { AuditEntry } from "../values/AuditEffect.ts"
import { TunnelHostname } from "../values/Hostname.ts"
import { AccountId, IdempotencyKey, PaymentId, Subject } from "../values/Ids.ts"
import { Count, CountFromText } from "../values/Numbers.ts"
import { literal, pattern } from "../values/Pattern.ts"
import { IdempotencyKeyReused, LimitReached } from "../values/RequestErrors.ts"
import { label, line } from "../values/Text.ts"
import { ClientSecret, RoutingToken } from "../values/Tokens.ts"
import { AccountAccess, AdminAccess, BearerAccess, RateLimit, SameOrigin } from "./Access.ts"
import { idempotencyHeader, pageQuery } from "./Page.ts"
import { BodyLimit, exactBody, maxListBytes, ReadsBody, ReadsParameters } from "./RequestReading.ts"

/** Accounts and payments as operators and the payment provider see them. */
export class BillingApi extends HttpApiGroup.make("billing")
  .annotate(OpenApi.Description, "Billing, for operators")
  .add(
    HttpApiEndpoint.post("openAccount", "/accounts/open", {
      headers: idempotencyHeader,
      success: Schema.Struct({ account: AccountId })
    })
      .annotate(OpenApi.Summary, "Creates a credit account without a login.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.get("getAccount", "/accounts/:account", {
      params: { account: AccountId },
      success: Schema.Struct({ account: AccountId, balance: Count }),
      error: AccountUnknown
    })
      .annotate(OpenApi.Summary, "Returns an account and its balance.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.post("intendPayment", "/payment/intent", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ account: AccountId, credits: Schema.Int }),
      success: Schema.Struct({ payment: PaymentId }),
      error: [CreditsOutOfRange, AccountUnknown, IdempotencyKeyReused, LimitReached]
    })
      .annotate(OpenApi.Summary, "Creates a payment intent for an account.")
      .middleware(ReadsBody),
    HttpApiEndpoint.get("getPayment", "/payment/intent/:payment", {
      params: { payment: PaymentId },
      success: PaymentIntent,
      error: PaymentUnknown
    })
      .annotate(OpenApi.Summary, "Returns a payment.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.post("issue", "/billing/issue", {
      headers: idempotencyHeader,
      payload: Schema.Struct({
        account: AccountId,
        price: Schema.Int,
        idempotency_key: Schema.optionalKey(IdempotencyKey)
      }),
      success: Schema.Struct({ token: RoutingToken }),
      error: [PriceBelowOne, InsufficientCredits, AccountUnknown, IdempotencyKeyReused]
    })
      .annotate(OpenApi.Summary, "Buys a routing token with the credits of an account.")
      .middleware(ReadsBody)
  )
  .middleware(AdminAccess)
  .middleware(RateLimit) {}

/** The provider's event: bytes as they were signed, then the headers that sign them. */
export class PaymentWebhookApi extends HttpApiGroup.make("paymentWebhook")
  .annotate(OpenApi.Description, "Payment events")
  .add(
    HttpApiEndpoint.post("confirm", "/payment/webhook", {
      headers: {
        "x-ct-webhook-timestamp": CountFromText,
        "x-ct-webhook-signature": Schema.String.check(pattern(/^[ \t]*[0-9a-fA-F]{64}[ \t]*$/u, "64 hex digits"))
      },
      payload: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/json" })),
      success: HttpApiSchema.Empty(200),
      error: [WebhookSignatureRefused, PaymentUnknown]
    })
      .annotate(OpenApi.Summary, "Receives the payment provider's signed event, which credits the account once.")
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
  )
  .middleware(RateLimit) {}

/** Machine credentials of an account. */
const account = { client_id: ClientIdInPath }
const provider = [IdentityProviderFailed, IdentityProviderNotConfigured] as const

export class ServiceAccountsApi extends HttpApiGroup.make("serviceAccounts")
  .annotate(OpenApi.Description, "Service accounts")
  .add(
    HttpApiEndpoint.post("create", "/me/service-accounts", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ name: ServiceAccountName }),
      success: CreatedServiceAccount,
      error: [ServiceAccountLimitReached, IdempotencyKeyReused, ...provider]
    })
      .annotate(
        OpenApi.Summary,
        "Creates a service account at the identity provider; its secret is shown only now and at rotation."
      )
      .middleware(ReadsBody),
    HttpApiEndpoint.get("list", "/me/service-accounts", {
      query: pageQuery,
      success: Schema.Array(ServiceAccount)
    })
      .annotate(OpenApi.Summary, "Lists your service accounts, without secrets.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.get("get", "/me/service-accounts/:client_id", {
      params: account,
      success: ServiceAccount,
      error: ServiceAccountNotFound
    }).annotate(OpenApi.Summary, "Returns a service account."),
    HttpApiEndpoint.post("rotate", "/me/service-accounts/:client_id/rotate", {
      params: account,
      success: Schema.Struct({ secret: ClientSecret }),
      error: [ServiceAccountNotFound, ...provider]
    }).annotate(OpenApi.Summary, "Creates a new secret; the old one stops working at once."),
    HttpApiEndpoint.delete("remove", "/me/service-accounts/:client_id", {
      params: account,
      success: HttpApiSchema.NoContent,
      error: [ServiceAccountNotFound, ...provider]
    }).annotate(OpenApi.Summary, "Deletes the service account at the identity provider, at once and permanently.")
  )
  .middleware(RateLimit)
  .middleware(BearerAccess) {}

// What operators may read and change of accounts, and the whole audit log.

/** Operators create tunnels for others and bind host names to routing tokens. */
export class ProvisioningApi extends HttpApiGroup.make("provisioning")
  .annotate(OpenApi.Description, "Tunnels, for operators")
  .add(
    HttpApiEndpoint.post("provisionTunnel", "/admin/provision-tunnel", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ subject: Subject, name: label(60), hostname: TunnelHostname }),
      success: Schema.Struct({ routing_token: RoutingToken, hostname: TunnelHostname }),
      error: [HostnameReserved, HostnameTaken, IdempotencyKeyReused]
    })
      .annotate(OpenApi.Summary, "Creates a tunnel with a host name for another account.")
      .middleware(ReadsBody),
    HttpApiEndpoint.get("list", "/admin/provision-tunnel", {
      query: pageQuery,
      success: Schema.Array(TunnelOfSubject)
    })
      .annotate(OpenApi.Summary, "Lists the tunnels of all accounts, without their routing tokens.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.post("authorizeHost", "/registry/authorize-host/:routing_token/:hostname", {
      params: { routing_token: RoutingToken, hostname: TunnelHostname },
      success: HttpApiSchema.Empty(200),
      error: [HostnameReserved, HostnameTaken, RoutingTokenRevoked, EdgeUnavailable]
    })
      .annotate(OpenApi.Summary, "Binds a host name to a routing token, at the edges and in the database.")
      .middleware(ReadsParameters)
  )
  .middleware(AdminAccess) {}

/** Any that the identity provider may give: limits can be set before the account's first request. */
const subject = { subject: Subject }

export class OperatorsApi extends HttpApiGroup.make("operators")
  .annotate(OpenApi.Description, "Accounts, for operators")
  .add(
    HttpApiEndpoint.post("setMaxTunnels", "/admin/accounts/:subject/max-tunnels", {
      params: subject,
      payload: Schema.Struct({ max: AccountLimit }),
      success: HttpApiSchema.Empty(200)
    })
      .annotate(OpenApi.Summary, "Sets how many tunnels an account may have.")
      .middleware(ReadsBody),
    HttpApiEndpoint.post("setMaxChannels", "/admin/accounts/:subject/max-channels", {
      params: subject,
      payload: Schema.Struct({ max: AccountLimit }),
      success: HttpApiSchema.Empty(200)
    })
      .annotate(OpenApi.Summary, "Sets how many channels an account may have.")
      .middleware(ReadsBody),
    HttpApiEndpoint.get("limits", "/admin/accounts/:subject", { params: subject, success: AccountLimits })
      .annotate(OpenApi.Summary, "Returns the limits of an account.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.patch("changeLimits", "/admin/accounts/:subject", {
      params: subject,
      payload: AccountLimitsChange,
      success: AccountLimits
    })
      .annotate(
        OpenApi.Summary,
        "Sets how many tunnels, channels, public ports, own host names and rules an account may have; null restores the setting of all accounts."
      )
      .middleware(ReadsBody),
    /** Newest first. */
    HttpApiEndpoint.get("auditLog", "/admin/audit-log", {
      query: {
        actor: Schema.optionalKey(line(255)),
        action: Schema.optionalKey(line(64)),
        target: Schema.optionalKey(line(255)),
        since: Schema.optionalKey(CountFromText),
        ...pageQuery
      },
      success: Schema.Array(AuditEntry)
    })
      .annotate(OpenApi.Summary, "Lists the whole audit log, newest first.")
      .middleware(ReadsParameters)
  )
  .annotateEndpointsMerge(exactBody)
  .middleware(AdminAccess) {}

/** What a person types who means to delete an account. */
export const DeleteConfirmation = literal(["DELETE"])

export class CreditsApi extends HttpApiGroup.make("credits")
  .annotate(OpenApi.Description, "Credits")
  .add(
    HttpApiEndpoint.get("account", "/me/account", { success: Account }).annotate(
      OpenApi.Summary,
      "Returns your account and its balance."
    ),
    HttpApiEndpoint.post("issue", "/me/issue", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ price: Schema.Int, idempotency_key: Schema.optionalKey(IdempotencyKey) }),
      success: Schema.Struct({ token: RoutingToken }),
      error: [PriceBelowOne, InsufficientCredits, IdempotencyKeyReused]
    })
      .annotate(OpenApi.Summary, "Buys a routing token for one credit.")
      .middleware(ReadsBody),
    HttpApiEndpoint.get("listIssued", "/me/issue", { query: pageQuery, success: Schema.Array(Issuance) })
      .annotate(OpenApi.Summary, "Lists what the credits were spent on.")
      .middleware(ReadsParameters)
  )
  .middleware(RateLimit)
  .middleware(BearerAccess) {}

export class AccountsApi extends HttpApiGroup.make("accounts")
  .annotate(OpenApi.Description, "Account")
  .add(
    /** The balance changes when the provider's signed event confirms the payment. */
    HttpApiEndpoint.post("buyCredits", "/me/account/credits", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ credits: Schema.Int }),
      success: Schema.Struct({ payment: PaymentId }),
      error: [CreditsOutOfRange, IdempotencyKeyReused, LimitReached]
    })
      .annotate(OpenApi.Summary, "Creates a payment intent; the balance changes when the payment provider confirms it.")
      .middleware(ReadsBody),
    HttpApiEndpoint.post("remove", "/me/account/delete", {
      payload: Schema.Struct({ confirm: DeleteConfirmation }),
      success: HttpApiSchema.Empty(200)
    })
      .annotate(OpenApi.Summary, "Deletes your account and its data here; the login at the identity provider is kept.")
      .middleware(ReadsBody)
  )
  .middleware(SameOrigin)
  .add(
    HttpApiEndpoint.get("listPayments", "/me/account/credits", {
      query: pageQuery,
      success: Schema.Array(PaymentIntent)
    })
      .annotate(OpenApi.Summary, "Lists your payments.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.get("auditLog", "/me/audit-log", {
      query: pageQuery,
      success: Schema.Array(AuditEntry)
    })
      .annotate(OpenApi.Summary, "Lists the audit entries of your own actions.")
      .middleware(ReadsParameters)
  )
  .annotateEndpointsMerge(exactBody)
  .middleware(RateLimit)
  .middleware(AccountAccess) {}
