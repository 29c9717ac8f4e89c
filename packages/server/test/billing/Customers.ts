/** A server that shares a secret with a payment provider, that provider, and customers who pay and buy. */
import * as Bytes from "@catenet/crypto/Bytes"
import { native } from "@catenet/crypto/native"
import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
import * as Accounts from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"

export const secret = "shared with the provider"
export const server = Accounts.server({ CT_PAYMENT_WEBHOOK_SECRET: secret })

/** A second replica on the same database. */
export const second = Effect.gen(function* () {
  const { issuer } = yield* TestIssuer
  const other = TestServer.replica({ CT_OIDC_ISSUER: issuer, CT_PAYMENT_WEBHOOK_SECRET: secret })
  const there = Effect.provideService(
    HttpServer.HttpServer,
    Context.get(yield* Layer.build(other), HttpServer.HttpServer)
  )
  yield* there(Accounts.bearerOf("anonymous"))
  return there
})

export const operator = { "x-ct-admin-token": TestServer.adminToken }
export const as = (subject: string) =>
  Effect.map(Accounts.bearerOf(subject), (token) => ({ authorization: `Bearer ${token}` }))
export const json = (response: Response) => Effect.promise(() => response.json() as Promise<any>)

export const post = (path: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
  TestServer.raw(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })

/** The headers that sign a body at a time. */
export const signed = (body: string, at = Math.floor(Date.now() / 1000)) => ({
  "x-ct-webhook-timestamp": String(at),
  "x-ct-webhook-signature": PaymentWebhook.sign(native, Redacted.make(secret), BigInt(at), Bytes.fromText(body))
})

/** An event of the provider, as it would send it. */
export const event = (payment: string, status = "succeeded") => {
  const body = JSON.stringify({ payment, status, amount: 5 })
  return post("/payment/webhook", signed(body), body)
}

/** Asks for so many credits, and answers the payment that the provider is to confirm. */
export const intend = (subject: string, credits: number) =>
  Effect.gen(function* () {
    const response = yield* post("/me/account/credits", yield* as(subject), { credits })
    assert.strictEqual(response.status, 200)
    return (yield* json(response)).payment as string
  })

/** Gives an account so many credits, by the way of the provider. */
export const fund = (subject: string, credits: number) =>
  Effect.gen(function* () {
    const response = yield* event(yield* intend(subject, credits))
    assert.strictEqual(response.status, 200)
  })

export const accountOf = (subject: string) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw("/me/account", { headers: yield* as(subject) })
    return (yield* json(response)) as { readonly account: string; readonly balance: number }
  })

/** What the lines of the ledger add up to, for every account whose balance is another. */
export const imbalances = SqlClient.SqlClient.pipe(
  Effect.flatMap(
    (sql) => sql`
      select account, balance, coalesce(sum(delta), 0)::bigint as total from accounts left join credit_ledger using (account)
      group by account having balance <> coalesce(sum(delta), 0)`
  ),
  Effect.provide(Accounts.database),
  Effect.orDie
)
