/**
 * Payments that buy credits. An intent fixes the amount; the provider's event only confirms it, and counts once, in
 * whatever order and however often events arrive. A confirmed payment is never reverted here.
 */
import { AccountUnknown, type CreditsOutOfRange, PaymentUnknown } from "@catenet/domain/billing/CreditErrors"
import { confirm, intend, PaymentIntent } from "@catenet/domain/billing/Credits"
import { audit } from "@catenet/domain/values/AuditEffect"
import { type AccountId, PaymentId } from "@catenet/domain/values/Ids"
import { maxUnconfirmedPerAccount } from "@catenet/domain/values/Quotas"
import type { IdempotencyKeyReused, LimitReached } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { HttpServerRequest } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import { Idempotency } from "../http/Idempotency.ts"
import { type Page, paged } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { freshHex64 } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { insertWithinQuota } from "../store/KeysetPage.ts"
import { inTransactionOf, sqlOrDie } from "../store/SqlOrDie.ts"
import { CreditStore } from "./CreditStore.ts"

/** The table of payment intents. */
interface NewIntent {
  readonly payment: PaymentId
  readonly account: AccountId
  readonly credits: number
  readonly createdAt: number
}

const makePaymentStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const intent = sql`select payment, account, credits, confirmed, created_at from payment_intents`
  return {
    transaction: sql.withTransaction,
    /** A row, where there is room for another payment of the account or its service accounts that is not confirmed. */
    insert: ({ account, createdAt, credits, payment }: NewIntent) =>
      Effect.andThen(
        sql`select pg_advisory_xact_lock(hashtextextended(coalesce(quota_subject(subject), account), 24))
          from accounts where account = ${account}`,
        sql`with room as (select count(*) < ${maxUnconfirmedPerAccount} as left_over from payment_intents
          where not confirmed and account in (select ${account} union select a.account from accounts own
            join accounts a on a.subject = any(quota_subjects(own.subject)) where own.account = ${account}))
          insert into payment_intents (payment, account, credits, created_at)
            select ${payment}, ${account}, ${credits}::bigint, ${createdAt}::bigint from room where left_over
            returning 1`
      ),
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ payment: Schema.String, lock: Schema.Boolean }),
      Result: PaymentIntent,
      execute: ({ lock, payment }) =>
        sql`${intent} where payment = ${payment} ${lock ? sql`for update` : sql``}`.withoutTransform
    }),
    confirm: (payment: string) => sql`update payment_intents set confirmed = true where payment = ${payment}`,
    prune: (before: number) => sql`delete from payment_intents where not confirmed and created_at < ${before}`,
    /** Oldest first. */
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        account: Schema.String,
        after: Schema.UndefinedOr(Schema.Struct({ createdAt: Schema.Int, payment: Schema.String })),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: PaymentIntent,
      execute: ({ account, after, limit }) =>
        sql`${intent} where account = ${account}
        ${after === undefined ? sql`` : sql`and (created_at, payment) > (${after.createdAt}, ${after.payment})`}
        order by created_at, payment ${limit === undefined ? sql`` : sql`limit ${limit}`}`.withoutTransform
    })
  }
})

const paymentFrom = Schema.decodeSync(PaymentId)
/** Seconds that a payment may take: ninety days. A slow bank takes weeks. */
const waitsFor = 90 * 86_400

const After = Schema.Struct({ createdAt: Schema.Int, payment: Schema.String })

export class Payments extends Context.Service<
  Payments,
  {
    /** Asks for credits; they count when the provider has confirmed the payment. */
    readonly intend: (
      caller: string,
      request: { readonly account: AccountId; readonly credits: number },
      key: string | undefined
    ) => Effect.Effect<
      { readonly payment: PaymentId },
      AccountUnknown | CreditsOutOfRange | IdempotencyKeyReused | LimitReached
    >
    readonly get: (payment: PaymentId) => Effect.Effect<PaymentIntent, PaymentUnknown>
    /** Of one account, oldest first. */
    readonly list: (
      account: AccountId,
      page: Page
    ) => Effect.Effect<ReadonlyArray<PaymentIntent>, never, HttpServerRequest.HttpServerRequest>
    /** What the provider says has been paid. */
    readonly confirm: (payment: PaymentId) => Effect.Effect<void, PaymentUnknown>
    /** Gives up payments that were not confirmed in time. An event that comes later is about an unknown payment. */
    readonly prune: Effect.Effect<void>
  }
>()("server/billing/Payments") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makePaymentStore
    const ledger = yield* CreditStore
    const audits = yield* Audits
    const { once } = yield* Idempotency
    const random = yield* SecureRandom.SecureRandom
    const fresh = Effect.provideService(freshHex64, SecureRandom.SecureRandom, random)

    const intended = Effect.fnUntraced(function* (account: AccountId, credits: number) {
      const payment = paymentFrom(yield* fresh)
      const asked = { payment, account, credits, created_at: yield* unixSeconds }
      const intent = yield* Effect.fromResult(intend(asked, yield* ledger.held(account)))
      const inserted = yield* store.insert({ payment, account, credits: intent.credits, createdAt: intent.created_at })
      yield* insertWithinQuota("unconfirmed payments of this account", maxUnconfirmedPerAccount)(inserted)
      return { payment }
    })

    return {
      intend: Effect.fn("Payments.intend")(function* (
        caller: string,
        request: { readonly account: AccountId; readonly credits: number },
        key: string | undefined
      ) {
        const repeat = { caller, operation: "intend-payment", key, request }
        const answer = Schema.Struct({ payment: PaymentId })
        return yield* once(repeat, answer, intended(request.account, request.credits))
      }, sqlOrDie),

      get: Effect.fn("Payments.get")(function* (payment: PaymentId) {
        const found = yield* store.find({ payment, lock: false })
        return yield* Option.isSome(found) ? Effect.succeed(found.value) : new PaymentUnknown()
      }, sqlOrDie),

      list: Effect.fn("Payments.list")(function* (account: AccountId, page: Page) {
        return yield* paged(
          page,
          After,
          (slice) => store.list({ account, ...slice }),
          ({ created_at, payment }) => ({ createdAt: created_at, payment })
        )
      }, sqlOrDie),

      confirm: Effect.fn("Payments.confirm")(function* (payment: PaymentId) {
        const intent = yield* store.find({ payment, lock: true })
        if (Option.isNone(intent)) return yield* new PaymentUnknown()
        const { account, credits } = intent.value
        const held = yield* ledger.held(account)
        if (held === null) return yield* Effect.die(new AccountUnknown())
        const { effects } = yield* Effect.orDie(Effect.fromResult(confirm(intent.value, held)))
        for (const effect of effects) {
          if (effect._tag === "ConfirmIntent") yield* store.confirm(effect.payment)
          if (effect._tag === "Entry") {
            yield* ledger.enter(effect)
            yield* audits.append(audit("payment_confirmed", "payment provider", payment, `${credits} for ${account}`))
          }
        }
      }, inTransactionOf(store)),

      prune: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(store.prune(now - waitsFor))))
    }
  })

  static readonly layer = Layer.effect(Payments, Payments.make).pipe(
    Layer.provide([Audits.layer, CreditStore.layer, Idempotency.layer])
  )
}
