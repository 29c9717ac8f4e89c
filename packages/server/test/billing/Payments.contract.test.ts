import { until } from "@catenet/testing/Eventually"
import * as Accounts from "@catenet/testing/server/Accounts"
import * as Contract from "@catenet/testing/server/Contract"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { accountOf, event, imbalances, intend, post, second, server, signed } from "./Customers.ts"

const now = () => Math.floor(Date.now() / 1000)
const unknown = "99".repeat(32)
const long = `{"payment":"${unknown}","status":"${"x".repeat(2 * 1024 * 1024)}"}`

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("payments", (it) => {
  it.effect("are accepted only with the shared secret, and only when recent", () =>
    Effect.gen(function* () {
      const payment = yield* intend("ada", 3)
      const body = JSON.stringify({ payment, status: "succeeded", amount: 999 })
      const row = (sent: string, headers: Readonly<Record<string, string>>, status: number, code?: string) => ({
        call: "confirm",
        body: sent,
        headers,
        status,
        ...(code === undefined ? {} : { code })
      })
      const replaced = (by: string) => body.replace(payment, by)
      const malformed = (sent: string, headers = signed(sent)) => row(sent, headers, 400, "MalformedRequest")
      const refused = (headers: Readonly<Record<string, string>>, sent = body) =>
        row(sent, headers, 401, "WebhookSignatureRefused")
      const { "x-ct-webhook-signature": signature, "x-ct-webhook-timestamp": timestamp } = signed(body)
      yield* Contract.hold(
        "paymentWebhook",
        "anonymous",
        [
          row(body, {}, 400, "MalformedRequest"),
          row(body, { "x-ct-webhook-signature": signature }, 400, "MalformedRequest"),
          row(body, { "x-ct-webhook-timestamp": timestamp }, 400, "MalformedRequest"),
          row(body, { ...signed(body), "x-ct-webhook-timestamp": "now" }, 400, "MalformedRequest"),
          row(body, { ...signed(body), "x-ct-webhook-signature": "zz" }, 400, "MalformedRequest"),
          refused({ ...signed(body), "x-ct-webhook-signature": "00".repeat(32) }),
          refused({ ...signed(body), "x-ct-webhook-timestamp": String(now() - 1) }),
          refused(signed(body, now() - 360)),
          refused(signed(body, now() + 360)),
          refused(signed(body), `${body} `),
          malformed("{"),
          malformed("[]"),
          malformed("{}"),
          malformed(replaced("zz")),
          row("\u0000", { ...signed("\u0000") }, 400, "MalformedRequest"),
          row(replaced(unknown), signed(replaced(unknown)), 404, "PaymentUnknown"),
          row(
            replaced("zz").replace("succeeded", "failed"),
            signed(replaced("zz").replace("succeeded", "failed")),
            200
          ),
          row(body, { ...signed(body), "content-type": "text/plain" }, 415, "UnsupportedMediaType"),
          row(long, signed(long), 413, "BodyTooLarge"),
          row(body, signed(body, now() - 240), 200),
          row(body, signed(body, now() + 240), 200)
        ],
        { "confirm WrongShape": "the body is bytes to the schema; what is in them is read after the signature" }
      )
      assert.strictEqual((yield* accountOf("ada")).balance, 3)
    })
  )

  it.effect("count once, however often and from wherever they are confirmed", () =>
    Effect.gen(function* () {
      const payment = yield* intend("once", 7)
      const there = yield* second
      const events = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? event(payment) : there(event(payment))))
      const answers = yield* Effect.all(events, { concurrency: "unbounded" })
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.strictEqual((yield* accountOf("once")).balance, 7)
      assert.deepStrictEqual(yield* imbalances, [])
    })
  )

  it.effect("count in whatever order the provider's events come, and when one is sent again", () =>
    Effect.gen(function* () {
      const payment = yield* intend("late", 4)
      const body = JSON.stringify({ payment, status: "succeeded" })
      const headers = signed(body)
      for (const status of ["processing", "failed"]) assert.strictEqual((yield* event(payment, status)).status, 200)
      assert.strictEqual((yield* accountOf("late")).balance, 0)
      for (const _ of [1, 2, 3]) assert.strictEqual((yield* post("/payment/webhook", headers, body)).status, 200)
      for (const status of ["failed", "succeeded"]) assert.strictEqual((yield* event(payment, status)).status, 200)
      assert.strictEqual((yield* accountOf("late")).balance, 4)
    })
  )

  it.effect("are given up after ninety days without a word, and never once they are made", () =>
    Effect.gen(function* () {
      const [old, young, made] = [yield* intend("patient", 1), yield* intend("patient", 2), yield* intend("patient", 4)]
      yield* event(made)
      const sql = yield* SqlClient.SqlClient
      const age = (payment: string, days: number) =>
        sql`update payment_intents set created_at = created_at - ${days * 86_400} where payment = ${payment}`
      yield* age(old, 91)
      yield* age(young, 89)
      yield* age(made, 400)
      // A replica that starts forgets what is over.
      yield* second
      yield* until(sql`select 1 from payment_intents where payment = ${old}`, (rows) => rows.length === 0)
      assert.strictEqual((yield* event(old)).status, 404)
      assert.strictEqual((yield* event(young)).status, 200)
      assert.strictEqual((yield* event(made)).status, 200)
      assert.strictEqual((yield* accountOf("patient")).balance, 6)
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Accounts.database)))
  )
})
