import { hold, row } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { accountOf, as, event, fund, json, operator, post, second, server } from "./Customers.ts"

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("credits", (it) => {
  it.effect("buy one token for one key, and say what is missing", () =>
    Effect.gen(function* () {
      yield* fund("keyed", 2)
      const headers = yield* as("keyed")
      const request = { price: 1, idempotency_key: "ab".repeat(32) }
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, () => Effect.flatMap(post("/me/issue", headers, request), json)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(answers.map(({ token }) => token)).size, 1)
      assert.strictEqual((yield* accountOf("keyed")).balance, 1)
      const poor = yield* post("/me/issue", headers, { price: 3 })
      const problem = yield* json(poor)
      assert.deepInclude(problem, { status: 402, balance: 1, requested: 3 })
      assert.match(problem.detail, /1 credits.*3/)
      const mine = yield* TestServer.raw("/me/issue", { headers })
      assert.strictEqual((yield* json(mine)).length, 1)
    })
  )

  it.effect("sell an account sixty tokens a minute at most, at however many replicas it asks", () =>
    Effect.gen(function* () {
      const there = yield* second
      const minute = Effect.sync(() => Math.floor(Date.now() / 60_000))
      const run = Effect.fnUntraced(function* (subject: string) {
        const ask = post("/me/issue", yield* as(subject), { price: 1 })
        const began = yield* minute
        const answers = yield* Effect.all(
          Array.from({ length: 64 }, (_, n) => (n % 2 === 0 ? ask : there(ask))),
          { concurrency: 16 }
        )
        return { answers, isOneMinute: began === (yield* minute) }
      })
      // A run over the full hour of a minute says nothing; the next one is inside.
      const first = yield* run("eager")
      const { answers } = first.isOneMinute ? first : yield* run("eager-again")
      const limited = answers.filter(({ status }) => status === 429)
      assert.strictEqual(limited.length, 4)
      assert.strictEqual(answers.filter(({ status }) => status === 402).length, 60)
      for (const { headers } of limited) assert.match(headers.get("retry-after") ?? "", /^([1-9]|[1-5]\d|60)$/)
    }).pipe(Effect.scoped)
  )

  it.effect("hold the contract of /me/account and /me/issue", () =>
    Effect.gen(function* () {
      yield* fund("ada", 5)
      yield* fund("bob", 5)
      const key = "cd".repeat(32)
      yield* hold("credits", { bearer: "ada" }, [
        row("account", 200, { as: { bearer: "ada" } }),
        row("account", "401 Unauthenticated", { as: "anonymous" }),
        row("issue", 200, { as: { bearer: "ada" }, body: { price: 1, idempotency_key: key } }),
        row("issue", "409 IdempotencyKeyReused", { as: { bearer: "bob" }, body: { price: 1, idempotency_key: key } }),
        row("issue", "400 PriceBelowOne", { as: { bearer: "ada" }, body: { price: 0 } }),
        row("issue", "402 InsufficientCredits", { as: { bearer: "ada" }, body: { price: 99 } }),
        row("issue", "400 MalformedRequest", { as: { bearer: "ada" }, body: { price: 1, idempotency_key: "zz" } }),
        row("listIssued", 200, { as: { bearer: "ada" } })
      ])
    })
  )

  it.effect("hold the contract of the operator's billing", () =>
    Effect.gen(function* () {
      const { account } = yield* json(yield* post("/accounts/open", operator))
      const { payment } = yield* json(yield* post("/payment/intent", operator, { account, credits: 3 }))
      assert.strictEqual((yield* event(payment)).status, 200)
      const { account: other } = yield* json(yield* post("/accounts/open", operator))
      const unknown = "99".repeat(32)
      const header = { "idempotency-key": "one of mine" }
      yield* hold("billing", "operator", [
        row("openAccount", 200, { as: "operator", headers: header }),
        row("openAccount", "400 MalformedRequest", { as: "operator", headers: { "idempotency-key": "x".repeat(300) } }),
        row("getAccount", 200, { as: "operator", at: { account }, answer: { account, balance: 3 } }),
        row("getAccount", "404 AccountUnknown", { as: "operator", at: { account: unknown } }),
        row("getAccount", "400 MalformedRequest", { as: "operator", at: { account: "zz" } }),
        row("intendPayment", 200, { as: "operator", headers: header, body: { account, credits: 1 } }),
        row("intendPayment", "409 IdempotencyKeyReused", {
          as: "operator",
          headers: header,
          body: { account, credits: 2 }
        }),
        row("intendPayment", "400 CreditsOutOfRange", { as: "operator", body: { account, credits: 0 } }),
        row("intendPayment", "404 AccountUnknown", { as: "operator", body: { account: unknown, credits: 1 } }),
        row("getPayment", 200, { as: "operator", at: { payment } }),
        row("getPayment", "404 PaymentUnknown", { as: "operator", at: { payment: unknown } }),
        row("getPayment", "400 MalformedRequest", { as: "operator", at: { payment: "zz" } }),
        row("issue", 200, { as: "operator", body: { account, price: 1, idempotency_key: "ef".repeat(32) } }),
        row("issue", "409 IdempotencyKeyReused", {
          as: "operator",
          body: { account: other, price: 1, idempotency_key: "ef".repeat(32) }
        }),
        row("issue", "400 PriceBelowOne", { as: "operator", body: { account, price: 0 } }),
        row("issue", "402 InsufficientCredits", { as: "operator", body: { account, price: 50 } }),
        row("issue", "404 AccountUnknown", { as: "operator", body: { account: unknown, price: 1 } })
      ])
    })
  )
})
