import {
  AccountUnknown,
  CreditsOutOfRange,
  InsufficientCredits,
  tokenPrice
} from "@catenet/domain/billing/CreditErrors"
import {
  type Bought,
  confirm,
  type CreditEffect,
  intend,
  issue,
  type LedgerAccount,
  maxBalance,
  PaymentIntent
} from "@catenet/domain/billing/Credits"
import { AccountId, PaymentId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const refusal = (answer: Result.Result<unknown, { readonly code: string }>): string | undefined =>
  Result.isFailure(answer) ? answer.failure.code : undefined
const hex = (text: string) => Buffer.from(text).toString("hex").padStart(64, "0")
const accountOf = (name: string) => Schema.decodeSync(AccountId)(hex(name))
const paymentOf = (n: number) => Schema.decodeSync(PaymentId)(hex(`p${n}`))
const tokenOf = (n: number) => Schema.decodeSync(RoutingToken)(hex(`t${n}`))
const a = accountOf("a")
const at = UnixSeconds.make(0)

const Owner = Schema.Literals(["a", "b"])
const Event = Schema.Union([
  Schema.TaggedStruct("Intend", { account: Schema.Literals(["a", "b", "ghost"]), credits: between(0, 5) }),
  Schema.TaggedStruct("Confirm", {
    payment: between(0, 20)
  }),
  Schema.TaggedStruct("Issue", { account: Owner, price: between(0, 4), key: Schema.NullOr(between(0, 5)) }),
  Schema.TaggedStruct("Issue", { account: Owner, price: between(1, 2), key: Schema.NullOr(between(0, 50)) })
])

describe("credits", () => {
  it.prop(
    "balances are never negative, equal the sum of their ledger, and no payment or key counts twice",
    [history(Event)],
    ([events]) => {
      const accounts = new Map<string, LedgerAccount>(
        ["a", "b"].map((name) => [accountOf(name), { account: accountOf(name), balance: 0 }])
      )
      const intents: Array<PaymentIntent> = []
      const issuances = new Map<string, Bought>()
      const ledger: Array<{ account: string; delta: number }> = []
      const paid: Record<string, number> = {}
      const bought: Record<string, number> = {}
      const tokens = new Set<RoutingToken>()
      const perform = (effects: ReadonlyArray<CreditEffect>) => {
        for (const effect of effects) {
          if (effect._tag === "Entry") ledger.push(effect)
          if (effect._tag === "Remember") {
            assert.isFalse(issuances.has(effect.key))
            issuances.set(effect.key, effect)
          }
          if (effect._tag === "ConfirmIntent") {
            const index = intents.findIndex(({ payment }) => payment === effect.payment)
            const intent = intents[index]
            assert.isFalse(intent?.confirmed ?? true)
            if (intent !== undefined) intents[index] = new PaymentIntent({ ...intent, confirmed: true })
          }
        }
      }
      events.forEach((event, i) => {
        if (event._tag === "Intend") {
          const account = accountOf(event.account)
          const asked = { payment: paymentOf(intents.length), account, credits: event.credits, created_at: at }
          const answer = intend(asked, accounts.get(account) ?? null)
          const isUnknown = event.account === "ghost"
          assert.strictEqual(
            refusal(answer),
            event.credits === 0 ? "CreditsOutOfRange" : isUnknown ? "AccountUnknown" : undefined
          )
          if (Result.isSuccess(answer)) intents.push(answer.success)
          return
        }
        if (event._tag === "Confirm") {
          const intent = intents[event.payment]
          const account = accounts.get(intent?.account ?? "")
          if (intent === undefined || account === undefined) return
          const answer = Result.getOrThrow(confirm(intent, account))
          if (!intent.confirmed) paid[account.account] = (paid[account.account] ?? 0) + intent.credits
          assert.strictEqual(answer.effects.length, intent.confirmed ? 0 : 2)
          perform(answer.effects)
          accounts.set(account.account, answer.next)
          return
        }
        const account = accounts.get(accountOf(event.account)) ?? { account: a, balance: 0 }
        const key = event.key === null ? null : `k${event.key}`
        const earlier = key === null ? null : (issuances.get(key) ?? null)
        const answer = issue(account, earlier, { price: event.price, key, token: tokenOf(i) })
        const expected =
          event.price < 1
            ? "PriceBelowOne"
            : earlier !== null && earlier.account !== account.account
              ? "IdempotencyKeyReused"
              : earlier === null && account.balance < event.price
                ? "InsufficientCredits"
                : undefined
        assert.strictEqual(refusal(answer), expected)
        if (Result.isFailure(answer)) {
          if (answer.failure._tag === "InsufficientCredits")
            assert.deepStrictEqual(
              answer.failure,
              new InsufficientCredits({ balance: account.balance, requested: event.price })
            )
          return
        }
        const { effects, next, token } = answer.success
        perform(effects)
        if (key !== null) assert.isTrue(issuances.has(key), "a key is remembered")
        accounts.set(next.account, next)
        if (earlier === null) {
          assert.isFalse(tokens.has(token))
          tokens.add(token)
          bought[next.account] = (bought[next.account] ?? 0) + 1
        } else assert.strictEqual(token, earlier.token)
      })
      for (const [id, { balance }] of accounts) {
        const sum = ledger.filter((entry) => entry.account === id).reduce((total, { delta }) => total + delta, 0)
        assert.isTrue(balance >= 0)
        assert.strictEqual(balance, sum)
        assert.strictEqual(balance, (paid[id] ?? 0) - (bought[id] ?? 0))
      }
    },
    often
  )

  it("a balance ends at the largest integer that JSON holds exactly", () => {
    assert.deepStrictEqual([tokenPrice, maxBalance], [1, 9_007_199_254_740_991])
    const asked = { payment: paymentOf(0), account: a, credits: maxBalance, created_at: at }
    const intent = Result.getOrThrow(intend(asked, { account: a, balance: 0 }))
    assert.deepStrictEqual(intent, new PaymentIntent({ ...asked, confirmed: false }))
    const outOfRange = Result.fail(new CreditsOutOfRange({ credits: maxBalance }))
    assert.deepStrictEqual(intend(asked, { account: a, balance: 1 }), outOfRange)
    assert.isTrue(Result.isSuccess(confirm(intent, { account: a, balance: 0 })))
    assert.deepStrictEqual(confirm(intent, { account: a, balance: 1 }), outOfRange)
  })

  it("an unknown account neither pays nor buys, but a wrong amount is refused first", () => {
    const asked = { payment: paymentOf(0), account: a, credits: 1, created_at: at }
    assert.deepStrictEqual(intend(asked, null), Result.fail(new AccountUnknown()))
    assert.strictEqual(refusal(intend({ ...asked, credits: 0 }, null)), "CreditsOutOfRange")
    const request = { price: 1, key: null, token: tokenOf(0) }
    assert.deepStrictEqual(issue(null, null, request), Result.fail(new AccountUnknown()))
    assert.strictEqual(refusal(issue(null, null, { ...request, price: 0 })), "PriceBelowOne")
  })

  it("a price may be offered that is more than a token costs, if the account holds it", () => {
    const token = tokenOf(0)
    const sold = Result.getOrThrow(issue({ account: a, balance: 5 }, null, { price: 5, key: null, token }))
    assert.deepStrictEqual(sold, {
      next: { account: a, balance: 4 },
      effects: [{ _tag: "Entry", account: a, delta: -1, reason: "routing token" }],
      token
    })
    assert.deepStrictEqual(
      issue({ account: a, balance: 4 }, null, { price: 5, key: null, token }),
      Result.fail(new InsufficientCredits({ balance: 4, requested: 5 }))
    )
    const payment = paymentOf(0)
    const intent = new PaymentIntent({ payment, account: a, credits: 2, confirmed: false, created_at: at })
    assert.deepStrictEqual<unknown>(Result.getOrThrow(confirm(intent, { account: a, balance: 1 })), {
      next: { account: a, balance: 3 },
      effects: [
        { _tag: "ConfirmIntent", payment },
        { _tag: "Entry", account: a, delta: 2, reason: `payment ${payment}` }
      ]
    })
  })
})
