/**
 * Credits: what a payment adds, and what a routing token costs. Every change of a balance is a ledger entry; a balance is the
 * sum of its entries and never negative. Amounts are whole credits, up to the largest signed 64-bit integer.
 */
import { Result } from "effect"
import { refuse, step, type Step } from "../values/Step.ts"

export interface Account {
  readonly id: string
  readonly balance: bigint
}

/** An amount that a payment provider was asked to collect. */
export interface PaymentIntent {
  readonly id: string
  readonly account: string
  readonly credits: bigint
  readonly confirmed: boolean
}

/** The token that an idempotency key has bought. */
export interface Issuance {
  readonly key: string
  readonly account: string
  readonly token: string
}

/** `Entry` is one line of the ledger; `Remember` keeps the token of an idempotency key. */
export type CreditEffect =
  | { readonly _tag: "Entry"; readonly account: string; readonly delta: bigint; readonly reason: string }
  | { readonly _tag: "ConfirmIntent"; readonly payment: string }
  | { readonly _tag: "Remember"; readonly issuance: Issuance }

/** What one routing token costs. */
export const tokenPrice = 1n

/** The largest balance, and the largest amount of one payment. */
export const largestAmount = 2n ** 63n - 1n

/** Asking for no credits, or for more than an account can hold. */
export interface InvalidAmount {
  readonly _tag: "InvalidAmount"
  readonly credits: bigint
}

/**
 * Opens an intent. The amount of a payment is fixed here; a later confirmation cannot change it.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { intend } from "@catenet/domain/billing/Credits"
 *
 * assert.equal(Result.getOrThrow(intend("p", "a", 5n)).confirmed, false)
 * assert.ok(Result.isFailure(intend("p", "a", 0n)))
 * ```
 */
export const intend = (id: string, account: string, credits: bigint): Result.Result<PaymentIntent, InvalidAmount> =>
  credits >= 1n && credits <= largestAmount
    ? Result.succeed({ id, account, credits, confirmed: false })
    : refuse({ _tag: "InvalidAmount", credits })

/** `Overflow`: the balance would exceed what an account can hold. */
export type ConfirmRefusal = { readonly _tag: "UnknownPayment" | "UnknownAccount" | "Overflow" }

/**
 * A provider's confirmation, whose signature was verified. Only the status `succeeded` pays, and only once; the intent and the
 * account are null when they are not on record. The next state is the account.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { confirm } from "@catenet/domain/billing/Credits"
 *
 * const account = { id: "a", balance: 1n }
 * const intent = { id: "p", account: "a", credits: 5n, confirmed: false }
 * assert.equal(Result.getOrThrow(confirm(intent, account, "succeeded")).next?.balance, 6n)
 * assert.equal(Result.getOrThrow(confirm({ ...intent, confirmed: true }, account, "succeeded")).next?.balance, 1n)
 * assert.equal(Result.getOrThrow(confirm(intent, account, "failed")).next?.balance, 1n)
 * ```
 */
export const confirm = (
  intent: PaymentIntent | null,
  account: Account | null,
  status: string
): Result.Result<Step<Account | null, CreditEffect>, ConfirmRefusal> => {
  if (status !== "succeeded") return step(account)
  if (intent === null) return refuse({ _tag: "UnknownPayment" })
  if (intent.confirmed) return step(account)
  if (account === null) return refuse({ _tag: "UnknownAccount" })
  const balance = account.balance + intent.credits
  if (balance > largestAmount) return refuse({ _tag: "Overflow" })
  return step<Account, CreditEffect>(
    { ...account, balance },
    { _tag: "ConfirmIntent", payment: intent.id },
    { _tag: "Entry", account: account.id, delta: intent.credits, reason: `payment ${intent.id}` }
  )
}

/** In the order in which they are found. `InsufficientCredits` is told with both amounts. */
export type IssueRefusal =
  | { readonly _tag: "PriceTooLow" | "KeyOfAnotherAccount" }
  | { readonly _tag: "InsufficientCredits"; readonly balance: bigint; readonly requested: bigint }

/** `price` is what the caller is ready to pay; `token` is fresh, and is used unless the key has bought one before. */
export interface IssueRequest {
  readonly price: bigint
  readonly key: string | null
  readonly token: string
}

/**
 * Sells a routing token. The account must hold the price that is offered, and pays the price of a token. A key that was used
 * by the same account answers with its first token, and costs nothing.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { issue } from "@catenet/domain/billing/Credits"
 *
 * const account = { id: "a", balance: 1n }
 * const sold = Result.getOrThrow(issue(account, null, { price: 1n, key: "k", token: "t" }))
 * assert.deepEqual([sold.token, sold.next.balance], ["t", 0n])
 * const again = Result.getOrThrow(issue(sold.next, { key: "k", account: "a", token: "t" }, { price: 1n, key: "k", token: "u" }))
 * assert.deepEqual([again.token, again.effects], ["t", []])
 * assert.ok(Result.isFailure(issue(sold.next, null, { price: 1n, key: null, token: "u" })))
 * ```
 */
export const issue = (
  account: Account,
  earlier: Issuance | null,
  { key, price, token }: IssueRequest
): Result.Result<Step<Account, CreditEffect> & { readonly token: string }, IssueRefusal> => {
  if (price < 1n) return refuse({ _tag: "PriceTooLow" })
  if (earlier !== null) {
    return earlier.account === account.id
      ? Result.succeed({ next: account, effects: [], token: earlier.token })
      : refuse({ _tag: "KeyOfAnotherAccount" })
  }
  const { balance, id } = account
  if (balance < price) return refuse({ _tag: "InsufficientCredits", balance, requested: price })
  const entry: CreditEffect = { _tag: "Entry", account: id, delta: -tokenPrice, reason: "routing token" }
  return Result.succeed({
    next: { id, balance: balance - tokenPrice },
    effects: key === null ? [entry] : [entry, { _tag: "Remember", issuance: { key, account: id, token } }],
    token
  })
}
