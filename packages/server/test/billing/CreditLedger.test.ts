import * as Accounts from "@catenet/testing/server/Accounts"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { accountOf, as, event, fund, imbalances, intend, json, operator, post, second, server } from "./Customers.ts"

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the ledger", (it) => {
  it.effect("is never overdrawn by 500 debits at two replicas while payments come in", () =>
    Effect.gen(function* () {
      yield* fund("spender", 60)
      const payments = yield* Effect.forEach([10, 20, 30], (credits) => intend("spender", credits))
      const there = yield* second
      const { account } = yield* accountOf("spender")
      const buy = Effect.flatMap(post("/billing/issue", operator, { account, price: 1 }), (response) =>
        Effect.map(json(response), (body) => ({ status: response.status, body }))
      )
      const debits = Array.from({ length: 500 }, (_, n) => (n % 2 === 0 ? buy : there(buy)))
      const paid = payments.flatMap((payment) => [event(payment), there(event(payment)), event(payment, "failed")])
      const [answers, events] = yield* Effect.all(
        [Effect.all(debits, { concurrency: 64 }), Effect.all(paid, { concurrency: "unbounded" })],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(events.map(({ status }) => status)), new Set([200]))
      const bought = answers.filter(({ status }) => status === 200)
      assert.strictEqual(answers.filter(({ status }) => status === 402).length, 500 - bought.length)
      assert.strictEqual(new Set(bought.map(({ body }) => body.token)).size, bought.length)
      assert.strictEqual((yield* accountOf("spender")).balance, 120 - bought.length)
      assert.isAtLeast(bought.length, 60)
      assert.deepStrictEqual(yield* imbalances, [])
    })
  )

  it.effect("opens one account however many first requests there are", () =>
    Effect.gen(function* () {
      const there = yield* second
      const first = accountOf("newcomer")
      const seen = yield* Effect.all(
        Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? first : there(first))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(seen.map(({ account }) => account)).size, 1)
    })
  )

  it.effect("sells one token for a key that two replicas get at once, from whichever header or body", () =>
    Effect.gen(function* () {
      yield* fund("keyed", 5)
      const there = yield* second
      const headers = { ...(yield* as("keyed")), "idempotency-key": "mine" }
      const tokens = (request: ReturnType<typeof post>) =>
        Effect.map(
          Effect.all(
            Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? request : there(request))),
            { concurrency: "unbounded" }
          ).pipe(Effect.flatMap(Effect.forEach(json))),
          (bodies) => new Set(bodies.map(({ token }) => token)).size
        )
      assert.strictEqual(yield* tokens(post("/me/issue", headers, { price: 1 })), 1)
      assert.strictEqual(yield* tokens(post("/me/issue", headers, { price: 1, idempotency_key: "ab".repeat(32) })), 1)
      assert.strictEqual((yield* accountOf("keyed")).balance, 3)
    })
  )

  it.effect("counts what was paid, not what an event says, and never more than it can count", () =>
    Effect.gen(function* () {
      const largest = Number.MAX_SAFE_INTEGER
      const both = [yield* intend("rich", largest), yield* intend("rich", largest)]
      yield* Effect.forEach(both, (payment) => event(payment))
      assert.strictEqual((yield* accountOf("rich")).balance, largest)
      const refused = yield* post("/me/account/credits", yield* as("rich"), { credits: 1 })
      assert.deepInclude(yield* json(refused), { status: 400, code: "CreditsOutOfRange" })
      assert.deepStrictEqual(yield* imbalances, [])
    })
  )

  it.effect("only grows, and nothing else moves a balance", () =>
    Effect.gen(function* () {
      yield* fund("ada", 2)
      const { account } = yield* accountOf("ada")
      const sql = yield* SqlClient.SqlClient
      const refused = (statement: Statement.Statement<object>) => Effect.flip(statement)
      yield* refused(sql`update accounts set balance = 9 where account = ${account}`)
      yield* refused(sql`insert into accounts (account, balance, created_at) values (${"0".repeat(64)}, 9, 0)`)
      yield* refused(sql`insert into credit_ledger (account, delta, reason, at) values (${account}, -3, 'x', 0)`)
      yield* refused(sql`update credit_ledger set delta = 9 where account = ${account}`)
      yield* refused(sql`delete from credit_ledger where account = ${account}`)
      yield* refused(sql`truncate credit_ledger`)
      assert.strictEqual((yield* accountOf("ada")).balance, 2)
    }).pipe(Effect.provide(Accounts.database))
  )

  it.effect("is in the audit log, without a token", () =>
    Effect.gen(function* () {
      yield* fund("logged", 1)
      const { token } = yield* json(yield* post("/me/issue", yield* as("logged"), { price: 1 }))
      const sql = yield* SqlClient.SqlClient
      const entries = yield* sql<{ action: string }>`select * from audit_log order by id desc limit 2`
      assert.deepStrictEqual(
        entries.map(({ action }) => action),
        ["routing_token_issued", "payment_confirmed"]
      )
      assert.notInclude(JSON.stringify(entries), token)
    }).pipe(Effect.provide(Accounts.database))
  )
})
