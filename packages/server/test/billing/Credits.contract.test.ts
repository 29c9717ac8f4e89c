import * as Contract from "@catenet/testing/server/Contract"
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
      yield* Contract.hold("credits", { bearer: "ada" }, [
        { call: "account", as: { bearer: "ada" }, status: 200 },
        { call: "account", as: "anonymous", status: 401, code: "Unauthenticated" },
        { call: "issue", as: { bearer: "ada" }, body: { price: 1, idempotency_key: key }, status: 200 },
        {
          call: "issue",
          as: { bearer: "bob" },
          body: { price: 1, idempotency_key: key },
          status: 409,
          code: "IdempotencyKeyReused"
        },
        { call: "issue", as: { bearer: "ada" }, body: { price: 0 }, status: 400, code: "PriceBelowOne" },
        { call: "issue", as: { bearer: "ada" }, body: { price: 99 }, status: 402, code: "InsufficientCredits" },
        {
          call: "issue",
          as: { bearer: "ada" },
          body: { price: 1, idempotency_key: "zz" },
          status: 400,
          code: "MalformedRequest"
        },
        { call: "listIssued", as: { bearer: "ada" }, status: 200 }
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
      yield* Contract.hold("billing", "operator", [
        { call: "openAccount", as: "operator", headers: header, status: 200 },
        {
          call: "openAccount",
          as: "operator",
          headers: { "idempotency-key": "x".repeat(300) },
          status: 400,
          code: "MalformedRequest"
        },
        { call: "getAccount", as: "operator", at: { account }, status: 200, answer: { account, balance: 3 } },
        { call: "getAccount", as: "operator", at: { account: unknown }, status: 404, code: "AccountUnknown" },
        { call: "getAccount", as: "operator", at: { account: "zz" }, status: 400, code: "MalformedRequest" },
        { call: "intendPayment", as: "operator", headers: header, body: { account, credits: 1 }, status: 200 },
        {
          call: "intendPayment",
          as: "operator",
          headers: header,
          body: { account, credits: 2 },
          status: 409,
          code: "IdempotencyKeyReused"
        },
        {
          call: "intendPayment",
          as: "operator",
          body: { account, credits: 0 },
          status: 400,
          code: "CreditsOutOfRange"
        },
        {
          call: "intendPayment",
          as: "operator",
          body: { account: unknown, credits: 1 },
          status: 404,
          code: "AccountUnknown"
        },
        { call: "getPayment", as: "operator", at: { payment }, status: 200 },
        { call: "getPayment", as: "operator", at: { payment: unknown }, status: 404, code: "PaymentUnknown" },
        { call: "getPayment", as: "operator", at: { payment: "zz" }, status: 400, code: "MalformedRequest" },
        { call: "issue", as: "operator", body: { account, price: 1, idempotency_key: "ef".repeat(32) }, status: 200 },
        {
          call: "issue",
          as: "operator",
          body: { account: other, price: 1, idempotency_key: "ef".repeat(32) },
          status: 409,
          code: "IdempotencyKeyReused"
        },
        { call: "issue", as: "operator", body: { account, price: 0 }, status: 400, code: "PriceBelowOne" },
        { call: "issue", as: "operator", body: { account, price: 50 }, status: 402, code: "InsufficientCredits" },
        { call: "issue", as: "operator", body: { account: unknown, price: 1 }, status: 404, code: "AccountUnknown" }
      ])
    })
  )
})
