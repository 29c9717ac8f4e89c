/**
 * Credits: an account's balance, the payments that fill it, the routing tokens that spend it. Every change of a balance is
 * a ledger entry; a balance is the sum of its entries and never negative.
 */
import { Result, Schema } from "effect"
import { AccountId, PaymentId, Subject } from "../values/Ids.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { IdempotencyKeyReused } from "../values/RequestErrors.ts"
import { type Step } from "../values/Step.ts"
import type { RoutingToken } from "../values/Tokens.ts"
import { AccountUnknown, CreditsOutOfRange, InsufficientCredits, PriceBelowOne, tokenPrice } from "./CreditErrors.ts"

/** The balance is never negative and equals the sum of the ledger. */
export class Account extends Schema.Class<Account>("Account")({
  account: AccountId,
  balance: Count,
  subject: Subject
}) {}

/** Credits that were asked for; they count only after the provider has confirmed the payment. */
export class PaymentIntent extends Schema.Class<PaymentIntent>("PaymentIntent")({
  payment: PaymentId,
  account: AccountId,
  credits: Count,
  confirmed: Schema.Boolean,
  created_at: UnixSeconds
}) {}

/** A routing token that was bought. The token itself is in the answer that issued it. */
export class Issuance extends Schema.Class<Issuance>("Issuance")({ price: Count, at: UnixSeconds }) {}

/** The provider's event. Only `succeeded` credits an account. */
export class PaymentEvent extends Schema.Class<PaymentEvent>("PaymentEvent")({
  payment: PaymentId,
  status: Schema.String
}) {}

/** An account as the ledger has it. */
export type LedgerAccount = Pick<Account, "account" | "balance">

/** The largest balance: the largest integer that JSON holds exactly. */
export const maxBalance = Number.MAX_SAFE_INTEGER

/** `Entry` is one line of the ledger; `Remember` keeps the token that an idempotency key has bought. */
export type CreditEffect =
  | { readonly _tag: "Entry"; readonly account: AccountId; readonly delta: number; readonly reason: string }
  | { readonly _tag: "ConfirmIntent"; readonly payment: PaymentId }
  | { readonly _tag: "Remember"; readonly key: string; readonly account: AccountId; readonly token: RoutingToken }

/** Whether the balance takes so many credits more. */
const fits = ({ balance }: LedgerAccount, credits: number) => credits <= maxBalance - balance

/**
 * Opens an intent to pay. The amount of a payment is fixed here; a later confirmation cannot change it. The account is
 * null when it is not on record.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { intend } from "@catenet/domain/billing/Credits"
 *
 * const account = { account: "a".repeat(64), balance: 1 }
 * const asked = { payment: "b".repeat(64), account: account.account, created_at: 100 }
 * assert.equal(Result.getOrThrow(intend({ ...asked, credits: 5 }, account)).confirmed, false)
 * assert.ok(Result.isFailure(intend({ ...asked, credits: 0 }, account)))
 * ```
 */
export const intend = (
  asked: Omit<PaymentIntent, "confirmed">,
  account: LedgerAccount | null
): Result.Result<PaymentIntent, CreditsOutOfRange | AccountUnknown> => {
  const { credits } = asked
  if (credits < 1) return Result.fail(new CreditsOutOfRange({ credits }))
  if (account === null) return Result.fail(new AccountUnknown())
  return fits(account, credits)
    ? Result.succeed(new PaymentIntent({ ...asked, confirmed: false }))
    : Result.fail(new CreditsOutOfRange({ credits }))
}

/**
 * The provider says that a payment succeeded, in an event whose signature was verified. A payment counts once, however
 * often it is confirmed. The next state is the account.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { confirm, PaymentIntent } from "@catenet/domain/billing/Credits"
 *
 * const account = { account: "a".repeat(64), balance: 1 }
 * const intent = { payment: "b".repeat(64), account: account.account, credits: 5, created_at: 100 }
 * assert.equal(Result.getOrThrow(confirm({ ...intent, confirmed: false }, account)).next.balance, 6)
 * assert.equal(Result.getOrThrow(confirm({ ...intent, confirmed: true }, account)).next.balance, 1)
 * ```
 */
export const confirm = (
  { confirmed, credits, payment }: PaymentIntent,
  account: LedgerAccount
): Result.Result<Step<LedgerAccount, CreditEffect>, CreditsOutOfRange> => {
  if (confirmed) return Result.succeed({ next: account, effects: [] })
  if (!fits(account, credits)) return Result.fail(new CreditsOutOfRange({ credits }))
  return Result.succeed({
    next: { ...account, balance: account.balance + credits },
    effects: [
      { _tag: "ConfirmIntent", payment },
      { _tag: "Entry", account: account.account, delta: credits, reason: `payment ${payment}` }
    ]
  })
}

/** The token that an idempotency key has bought. */
export interface Bought {
  readonly account: AccountId
  readonly token: RoutingToken
}

/** `price` is what the caller is ready to pay; `token` is fresh, and is used unless the key has bought one before. */
export interface IssueRequest {
  readonly price: number
  readonly key: string | null
  readonly token: RoutingToken
}

/** Why no token is sold, in the order in which it is found. */
export type IssueRefusal = PriceBelowOne | AccountUnknown | IdempotencyKeyReused | InsufficientCredits

/**
 * Sells a routing token. The account must hold the price that is offered, and pays the price of a token. A key that was used
 * by the same account answers with its first token, and costs nothing.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { issue } from "@catenet/domain/billing/Credits"
 *
 * const account = { account: "a", balance: 1 }
 * const sold = Result.getOrThrow(issue(account, null, { price: 1, key: "k", token: "t" }))
 * assert.deepEqual([sold.token, sold.next.balance], ["t", 0])
 * const again = Result.getOrThrow(issue(sold.next, { account: "a", token: "t" }, { price: 1, key: "k", token: "u" }))
 * assert.deepEqual([again.token, again.effects], ["t", []])
 * assert.ok(Result.isFailure(issue(sold.next, null, { price: 1, key: null, token: "u" })))
 * ```
 */
export const issue = (
  held: LedgerAccount | null,
  earlier: Bought | null,
  { key, price, token }: IssueRequest
): Result.Result<Step<LedgerAccount, CreditEffect> & { readonly token: RoutingToken }, IssueRefusal> => {
  if (price < tokenPrice) return Result.fail(new PriceBelowOne({ price }))
  if (held === null) return Result.fail(new AccountUnknown())
  const { account, balance } = held
  if (earlier !== null) {
    return earlier.account === account
      ? Result.succeed({ next: held, effects: [], token: earlier.token })
      : Result.fail(new IdempotencyKeyReused())
  }
  if (balance < price) return Result.fail(new InsufficientCredits({ balance, requested: price }))
  const entry: CreditEffect = { _tag: "Entry", account, delta: -tokenPrice, reason: "routing token" }
  return Result.succeed({
    next: { account, balance: balance - tokenPrice },
    effects: key === null ? [entry] : [entry, { _tag: "Remember", key, account, token }],
    token
  })
}
