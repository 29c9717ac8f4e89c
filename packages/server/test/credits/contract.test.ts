import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { native } from "@catenet/crypto/native"
import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
import * as Bytes from "@catenet/crypto/Bytes"
import * as Accounts from "../harness/Accounts.ts"
import * as Contract from "../harness/Contract.ts"
import { TestIssuer } from "../harness/TestIssuer.ts"
import * as TestServer from "../harness/TestServer.ts"

const secret = "shared with the provider"
const world = Layer.unwrap(
  Effect.map(TestIssuer, ({ issuer }) =>
    TestServer.layer({ CT_OIDC_ISSUER: issuer, CT_PAYMENT_WEBHOOK_SECRET: secret })
  )
).pipe(Layer.provideMerge(TestIssuer.layer))

const post = (path: string, headers: Record<string, string>, body?: unknown) =>
  TestServer.raw(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
const operator = { "x-ct-admin-token": TestServer.adminToken }
const json = (response: Response) => Effect.promise(() => response.json() as Promise<any>)

const signed = (body: string, at = Math.floor(Date.now() / 1000)) => ({
  "x-ct-webhook-timestamp": String(at),
  "x-ct-webhook-signature": PaymentWebhook.sign(native, Redacted.make(secret), BigInt(at), Bytes.fromText(body))
})

/** An event of the provider, as it would send it. */
const event = (payment: string, status = "succeeded") => {
  const body = JSON.stringify({ payment, status, amount: 5 })
  return post("/payment/webhook", signed(body), body)
}

const as = (subject: string) =>
  Effect.map(Accounts.bearerOf(subject), (token) => ({ authorization: `Bearer ${token}` }))
const balanceOf = (subject: string) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw("/me/account", { headers: yield* as(subject) })
    return (yield* json(response)).balance as number
  })

/** Gives an account so many credits, by the way of the provider. */
const fund = (subject: string, credits: number) =>
  Effect.gen(function* () {
    const { payment } = yield* json(yield* post("/me/account/credits", yield* as(subject), { credits }))
    assert.strictEqual((yield* event(payment)).status, 200)
    return payment as string
  })

const second = Effect.gen(function* () {
  const { issuer } = yield* TestIssuer
  const other = TestServer.replica({ CT_OIDC_ISSUER: issuer, CT_PAYMENT_WEBHOOK_SECRET: secret })
  const context = yield* Layer.build(other)
  const asOther = Effect.provideService(HttpServer.HttpServer, Context.get(context, HttpServer.HttpServer))
  yield* asOther(Accounts.bearerOf("nobody"))
  return asOther
})

layer(world, { excludeTestServices: true, timeout: "60 seconds" })("credits", (it) => {
  it.effect("are counted once for a payment, however often and from wherever it is confirmed", () =>
    Effect.gen(function* () {
      const { payment } = yield* json(yield* post("/me/account/credits", yield* as("once"), { credits: 7 }))
      assert.strictEqual((yield* event(payment, "failed")).status, 200)
      assert.strictEqual(yield* balanceOf("once"), 0)
      const other = yield* second
      const events = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? event(payment) : other(event(payment))))
      const answers = yield* Effect.all(events, { concurrency: "unbounded" })
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.strictEqual(yield* balanceOf("once"), 7)
    })
  )

  it.effect("are never below zero under many debits, and every debit is one token", () =>
    Effect.gen(function* () {
      yield* fund("spender", 20)
      const other = yield* second
      const headers = yield* as("spender")
      const buy = post("/me/issue", headers, { price: 1 })
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? buy : other(buy))),
        { concurrency: 50 }
      )
      const tokens = yield* Effect.all(answers.filter(({ status }) => status === 200).map(json))
      assert.strictEqual(new Set(tokens.map(({ token }) => token)).size, 20)
      assert.isTrue(answers.every(({ status }) => status === 200 || status === 402))
      assert.strictEqual(yield* balanceOf("spender"), 0)
    })
  )

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
      assert.strictEqual(yield* balanceOf("keyed"), 1)
      const poor = yield* post("/me/issue", headers, { price: 3 })
      const problem = yield* json(poor)
      assert.deepInclude(problem, { status: 402, balance: 1, requested: 3 })
      assert.match(problem.detail, /1 credits.*3/)
      const mine = yield* TestServer.raw("/me/issue", { headers })
      assert.strictEqual((yield* json(mine)).length, 1)
    })
  )

  it.effect("hold the contract of /me/account and /me/issue", () =>
    Effect.gen(function* () {
      yield* fund("ada", 5)
      yield* fund("bob", 5)
      const key = "cd".repeat(32)
      yield* Contract.hold("credits", { bearer: "ada" }, [
        { call: "account", as: { bearer: "ada" }, status: 200 },
        { call: "account", as: "nobody", status: 401, code: "Unauthenticated" },
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
      const nobody = "99".repeat(32)
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
        { call: "getAccount", as: "operator", at: { account: nobody }, status: 404, code: "AccountUnknown" },
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
          body: { account: nobody, credits: 1 },
          status: 404,
          code: "AccountUnknown"
        },
        { call: "getPayment", as: "operator", at: { payment }, status: 200 },
        { call: "getPayment", as: "operator", at: { payment: nobody }, status: 404, code: "PaymentUnknown" },
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
        { call: "issue", as: "operator", body: { account: nobody, price: 1 }, status: 404, code: "AccountUnknown" }
      ])
    })
  )

  it.effect("are believed only from whoever shares the secret, and only now", () =>
    Effect.gen(function* () {
      const { account } = yield* json(yield* post("/accounts/open", operator))
      const { payment } = yield* json(yield* post("/payment/intent", operator, { account, credits: 3 }))
      const body = JSON.stringify({ payment, status: "succeeded" })
      const now = Math.floor(Date.now() / 1000)
      const cases = [
        [{}, body, 400],
        [{ ...signed(body), "x-ct-webhook-signature": "zz" }, body, 400],
        [{ ...signed(body), "x-ct-webhook-signature": "00".repeat(32) }, body, 401],
        [signed(body, now - 400), body, 401],
        [signed(body, now + 400), body, 401],
        [signed(body), body + " ", 401],
        [signed("{"), "{", 400],
        [signed(body.replace(payment, "zz")), body.replace(payment, "zz"), 400],
        [signed(body.replace(payment, "99".repeat(32))), body.replace(payment, "99".repeat(32)), 404],
        [signed(body), body, 200]
      ] as const
      for (const [headers, sent, status] of cases) {
        assert.strictEqual((yield* post("/payment/webhook", headers, sent)).status, status, sent)
      }
    })
  )
})
