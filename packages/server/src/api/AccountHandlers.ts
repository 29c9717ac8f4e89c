/** Handlers of accounts: their data and limits, credits and payments, and service accounts. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
import { Caller, quotaSubject } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { WebhookSignatureRefused } from "@catenet/domain/billing/CreditErrors"
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import { PaymentId } from "@catenet/domain/values/Ids"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Effect, Layer, Result, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts } from "../accounts/Accounts.ts"
import { Credits } from "../billing/Credits.ts"
import { Payments } from "../billing/Payments.ts"
import { Limits, setRetryAfter } from "../http/Limits.ts"
import { type Page, paged } from "../http/Paging.ts"
import { type AuditQuery, Audits } from "../identity/Audits.ts"
import { ServiceAccounts } from "../identity/ServiceAccounts.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"

/** Handlers of the `serviceAccounts` group. */
export const ServiceAccountHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "serviceAccounts",
  Effect.fn(function* (handlers) {
    const accounts = yield* ServiceAccounts
    return handlers.handleAll({
      create: ({ headers, payload }) =>
        Caller.use(({ subject }) => accounts.create(subject, payload.name, headers["idempotency-key"])),
      list: ({ query }) => Caller.use(({ subject }) => accounts.list(subject, query)),
      get: ({ params }) => Caller.use(({ subject }) => accounts.get(subject, params.client_id)),
      rotate: ({ params }) => Caller.use(({ subject }) => accounts.rotate(subject, params.client_id)),
      remove: ({ params }) => Caller.use(({ subject }) => accounts.remove(subject, params.client_id))
    })
  })
)

// Handlers of the `billing` and `credits` groups.

/** The handler of the `paymentWebhook` group: whether the provider said it, and only now, is decided before it is read. */
const paymentFrom = Schema.decodeSync(PaymentId)

/** Without a shared secret nothing can be signed with it: every event is refused. */
export const PaymentWebhookHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "paymentWebhook",
  Effect.fn(function* (handlers) {
    const payments = yield* Payments
    const { paymentWebhookSecret } = yield* Settings
    return handlers.handle("confirm", ({ headers, payload }) =>
      Effect.gen(function* () {
        if (paymentWebhookSecret === undefined) return yield* new WebhookSignatureRefused()
        const timestamp = String(headers["x-ct-webhook-timestamp"])
        const request = { timestamp, signature: headers["x-ct-webhook-signature"], body: payload }
        const verdict = PaymentWebhook.verify(native, paymentWebhookSecret, request, yield* unixSeconds)
        if (Result.isFailure(verdict)) return yield* new WebhookSignatureRefused()
        const payment = PaymentWebhook.confirmedPayment(payload)
        if (Result.isFailure(payment)) {
          const errors = [{ path: [], message: "Expected a payment notice: payment of 64 hex digits, and status" }]
          return yield* new MalformedRequest({ errors })
        }
        if (payment.success !== undefined) yield* payments.confirm(paymentFrom(Hex.encode(payment.success)))
      })
    )
  })
)

const billing = HttpApiBuilder.group(
  ControlPlaneApi,
  "billing",
  Effect.fn(function* (handlers) {
    const credits = yield* Credits
    const payments = yield* Payments
    return handlers.handleAll({
      openAccount: ({ headers }) => credits.open(headers["idempotency-key"]),
      getAccount: ({ params }) => credits.get(params.account),
      intendPayment: ({ headers, payload }) => payments.intend("operator", payload, headers["idempotency-key"]),
      getPayment: ({ params }) => payments.get(params.payment),
      issue: ({ headers, payload: { account, idempotency_key, price } }) =>
        credits.issue("operator", account, price, { body: idempotency_key, header: headers["idempotency-key"] })
    })
  })
)

/** Tokens that an account may ask for in a minute, whether it can pay for them or not. */
const issuesPerMinute = 60

const mine = HttpApiBuilder.group(
  ControlPlaneApi,
  "credits",
  Effect.fn(function* (handlers) {
    const credits = yield* Credits
    const limits = yield* Limits
    return handlers.handleAll({
      account: () => Caller.use(({ subject }) => credits.mine(subject)),
      issue: ({ headers, payload: { idempotency_key, price } }) =>
        Caller.use((caller) =>
          limits.take(`issue ${quotaSubject(caller)}`, issuesPerMinute).pipe(
            Effect.tapErrorTag("RateLimited", setRetryAfter),
            Effect.andThen(credits.mine(caller.subject)),
            Effect.flatMap(({ account }) =>
              credits
                .issue(caller.subject, account, price, { body: idempotency_key, header: headers["idempotency-key"] })
                .pipe(Effect.catchTag("AccountUnknown", (error) => Effect.die(error)))
            )
          )
        ),
      listIssued: ({ query }) => Caller.use(({ subject }) => credits.listIssued(subject, query))
    })
  })
)

export const CreditHandlers = Layer.mergeAll(billing, mine)

/** Entries of the audit log in pages; the log is read backwards. */
const logged = (audits: Audits["Service"], { cursor, limit, ...query }: Page & AuditQuery) =>
  paged(
    { ...(limit === undefined ? {} : { limit }), ...(cursor === undefined ? {} : { cursor }) },
    Schema.Int,
    ({ after, limit: most }) =>
      audits.list({
        ...query,
        ...(after === undefined ? {} : { before: after }),
        ...(most === undefined ? {} : { limit: most })
      }),
    ({ id }) => id
  )

const accounts = HttpApiBuilder.group(
  ControlPlaneApi,
  "accounts",
  Effect.fn(function* (handlers) {
    const service = yield* Accounts
    const credits = yield* Credits
    const payments = yield* Payments
    const audits = yield* Audits
    return handlers.handleAll({
      buyCredits: ({ headers, payload }) =>
        Caller.use(({ subject }) =>
          Effect.flatMap(credits.mine(subject), ({ account }) =>
            payments
              .intend(subject, { account, credits: payload.credits }, headers["idempotency-key"])
              .pipe(Effect.catchTag("AccountUnknown", (error) => Effect.die(error)))
          )
        ),
      listPayments: ({ query }) =>
        Caller.use(({ subject }) =>
          Effect.flatMap(credits.mine(subject), ({ account }) => payments.list(account, query))
        ),
      auditLog: ({ query }) => Caller.use(({ subject }) => logged(audits, { ...query, actor: lowerAscii(subject) })),
      remove: () => Caller.use((caller) => service.remove(caller))
    })
  })
)

const operators = HttpApiBuilder.group(
  ControlPlaneApi,
  "operators",
  Effect.fn(function* (handlers) {
    const service = yield* Accounts
    const audits = yield* Audits
    return handlers.handleAll({
      setMaxTunnels: ({ params, payload }) => service.setLimit(params.subject, "tunnels", payload.max),
      setMaxChannels: ({ params, payload }) => service.setLimit(params.subject, "channels", payload.max),
      limits: ({ params }) => service.limits(params.subject),
      changeLimits: ({ params, payload }) => service.changeLimits(params.subject, payload),
      auditLog: ({ query }) => logged(audits, query)
    })
  })
)

export const AccountHandlers = Layer.mergeAll(accounts, operators)
