import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  type Account,
  confirm,
  type CreditEffect,
  intend,
  issue,
  type Issuance,
  largestAmount,
  type PaymentIntent,
  tokenPrice
} from "@catenet/domain/billing/Credits"
import { between, history, often, refusal } from "../values/history.ts"

const Owner = Schema.Literals(["a", "b"])
const Event = Schema.Union([
  Schema.TaggedStruct("Intend", { account: Schema.Literals(["a", "b", "ghost"]), credits: between(0, 5) }),
  Schema.TaggedStruct("Confirm", {
    payment: between(0, 20),
    status: Schema.Literals(["succeeded", "succeeded", "failed"])
  }),
  Schema.TaggedStruct("Issue", { account: Owner, price: between(0, 4), key: Schema.NullOr(between(0, 5)) }),
  Schema.TaggedStruct("Issue", { account: Owner, price: between(1, 2), key: Schema.NullOr(between(0, 50)) })
])

describe("credits", () => {
  it.prop(
    "balances are never negative, equal the sum of their ledger, and no payment or key counts twice",
    [history(Event)],
    ([events]) => {
      const accounts = new Map<string, Account>([
        ["a", { id: "a", balance: 0n }],
        ["b", { id: "b", balance: 0n }]
      ])
      const intents: Array<PaymentIntent> = []
      const issuances = new Map<string, Issuance>()
      const ledger: Array<{ account: string; delta: bigint }> = []
      const paid: Record<string, bigint> = { a: 0n, b: 0n }
      const bought: Record<string, number> = { a: 0, b: 0 }
      const tokens = new Set<string>()
      const perform = (effects: ReadonlyArray<CreditEffect>) => {
        for (const effect of effects) {
          if (effect._tag === "Entry") ledger.push(effect)
          if (effect._tag === "Remember") {
            assert.isFalse(issuances.has(effect.issuance.key))
            issuances.set(effect.issuance.key, effect.issuance)
          }
          if (effect._tag === "ConfirmIntent") {
            const index = intents.findIndex(({ id }) => id === effect.payment)
            const intent = intents[index]
            assert.isFalse(intent?.confirmed ?? true)
            if (intent !== undefined) intents[index] = { ...intent, confirmed: true }
          }
        }
      }
      events.forEach((event, i) => {
        if (event._tag === "Intend") {
          const answer = intend(`p${intents.length}`, event.account, BigInt(event.credits))
          assert.strictEqual(refusal(answer), event.credits === 0 ? "InvalidAmount" : undefined)
          if (Result.isSuccess(answer)) intents.push(answer.success)
          return
        }
        if (event._tag === "Confirm") {
          const intent = intents[event.payment] ?? null
          const account = accounts.get(intent?.account ?? "") ?? null
          const answer = confirm(intent, account, event.status)
          const counts = event.status === "succeeded" && intent?.confirmed === false
          assert.strictEqual(
            refusal(answer),
            event.status !== "succeeded"
              ? undefined
              : intent === null
                ? "UnknownPayment"
                : counts && account === null
                  ? "UnknownAccount"
                  : undefined
          )
          if (Result.isFailure(answer)) return
          if (counts && account !== null) paid[account.id] = (paid[account.id] ?? 0n) + (intent?.credits ?? 0n)
          assert.strictEqual(answer.success.effects.length, counts ? 2 : 0)
          perform(answer.success.effects)
          if (answer.success.next !== null) accounts.set(answer.success.next.id, answer.success.next)
          return
        }
        const account = accounts.get(event.account) ?? { id: "", balance: 0n }
        const key = event.key === null ? null : `k${event.key}`
        const earlier = key === null ? null : (issuances.get(key) ?? null)
        const answer = issue(account, earlier, { price: BigInt(event.price), key, token: `t${i}` })
        const expected =
          event.price < 1
            ? "PriceTooLow"
            : earlier !== null && earlier.account !== account.id
              ? "KeyOfAnotherAccount"
              : earlier === null && account.balance < BigInt(event.price)
                ? "InsufficientCredits"
                : undefined
        assert.strictEqual(refusal(answer), expected)
        if (Result.isFailure(answer)) {
          if (answer.failure._tag === "InsufficientCredits")
            assert.deepStrictEqual(answer.failure, {
              _tag: "InsufficientCredits",
              balance: account.balance,
              requested: BigInt(event.price)
            })
          return
        }
        const { effects, next, token } = answer.success
        perform(effects)
        if (key !== null) assert.isTrue(issuances.has(key), "a key is remembered")
        accounts.set(next.id, next)
        if (earlier === null) {
          assert.isFalse(tokens.has(token))
          tokens.add(token)
          bought[next.id] = (bought[next.id] ?? 0) + 1
        } else assert.strictEqual(token, earlier.token)
      })
      for (const [id, { balance }] of accounts) {
        const sum = ledger.filter((entry) => entry.account === id).reduce((total, { delta }) => total + delta, 0n)
        assert.isTrue(balance >= 0n)
        assert.strictEqual(balance, sum)
        assert.strictEqual(balance, (paid[id] ?? 0n) - BigInt(bought[id] ?? 0))
      }
    },
    often
  )

  it("amounts end where signed 64-bit integers end", () => {
    assert.deepStrictEqual([tokenPrice, largestAmount], [1n, 9_223_372_036_854_775_807n])
    const whole = { id: "p", account: "a", credits: largestAmount, confirmed: false }
    assert.deepStrictEqual(intend("p", "a", largestAmount), Result.succeed(whole))
    assert.deepStrictEqual(
      intend("p", "a", largestAmount + 1n),
      Result.fail({ _tag: "InvalidAmount", credits: largestAmount + 1n })
    )
    const intent = { id: "p", account: "a", credits: largestAmount, confirmed: false }
    assert.isTrue(Result.isSuccess(confirm(intent, { id: "a", balance: 0n }, "succeeded")))
    assert.strictEqual(refusal(confirm(intent, { id: "a", balance: 1n }, "succeeded")), "Overflow")
  })

  it("a price may be offered that is more than a token costs, if the account holds it", () => {
    const sold = Result.getOrThrow(issue({ id: "a", balance: 5n }, null, { price: 5n, key: null, token: "t" }))
    assert.deepStrictEqual(sold, {
      next: { id: "a", balance: 4n },
      effects: [{ _tag: "Entry", account: "a", delta: -1n, reason: "routing token" }],
      token: "t"
    })
    assert.deepStrictEqual(
      issue({ id: "a", balance: 4n }, null, { price: 5n, key: null, token: "t" }),
      Result.fail({ _tag: "InsufficientCredits", balance: 4n, requested: 5n })
    )
    const paid = Result.getOrThrow(
      confirm({ id: "p", account: "a", credits: 2n, confirmed: false }, { id: "a", balance: 1n }, "succeeded")
    )
    assert.deepStrictEqual<unknown>(paid, {
      next: { id: "a", balance: 3n },
      effects: [
        { _tag: "ConfirmIntent", payment: "p" },
        { _tag: "Entry", account: "a", delta: 2n, reason: "payment p" }
      ]
    })
  })
})
