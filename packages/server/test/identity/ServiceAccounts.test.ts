import { until } from "@catenet/testing/Eventually"
import * as Accounts from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { account, agreed, rows, second, server } from "./RealmServer.ts"
import { clients, login, TestRealm } from "./TestRealm.ts"

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("service accounts", (it) => {
  it.effect("are fifty here and at the provider after 200 requests at two replicas", () =>
    Effect.gen(function* () {
      const there = yield* second
      const { create, list } = yield* account("racer")
      const answers = yield* Effect.all(
        Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? create(`n${n}`) : there(create(`n${n}`)))),
        { concurrency: "unbounded" }
      )
      const made = answers.filter(({ status }) => status === 200)
      assert.strictEqual(made.length, 50)
      for (const { body, status } of answers) {
        if (status !== 200) assert.deepInclude(body, { status: 400, code: "ServiceAccountLimitReached", limit: 50 })
      }
      const ids = made.map(({ body }) => body.client_id as string).sort()
      assert.deepStrictEqual((yield* list).map(({ client_id }) => client_id).sort(), ids)
      assert.deepStrictEqual([...(yield* clients)].sort(), ids)
      assert.strictEqual((yield* rows).length, 50)
    })
  )

  it.effect("sign in with their secret, and with no other than the last", () =>
    Effect.gen(function* () {
      const { create, remove, rotate } = yield* account("ada")
      const { client_id: id, secret } = (yield* create("build server")).body
      assert.strictEqual((yield* login(id, secret)).status, 200)
      const { token } = yield* TestIssuer
      const own = yield* token({ sub: "ada-builds", azp: id })
      const opens = Effect.map(
        TestServer.raw("/me/tunnels", { headers: { authorization: `Bearer ${own}` } }),
        ({ status }) => status
      )
      assert.strictEqual(yield* opens, 200)
      const next = (yield* rotate(id)).body.secret
      assert.notStrictEqual((yield* login(id, secret)).status, 200)
      assert.strictEqual((yield* login(id, next)).status, 200)
      const answers = yield* Effect.all([remove(id), remove(id), remove(id)], { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [204, 404, 404])
      assert.notStrictEqual((yield* login(id, next)).status, 200)
      assert.strictEqual(yield* opens, 401, "a token that was got before and has not expired")
    })
  )

  it.effect("are made once for one key, wherever it is sent", () =>
    Effect.gen(function* () {
      const there = yield* second
      const { create, list } = yield* account("keyed")
      const one = create("once", "one key")
      const answers = yield* Effect.all([one, there(one), one, there(one), one], { concurrency: "unbounded" })
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.strictEqual(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1)
      assert.strictEqual((yield* list).length, 1)
    })
  )

  it.effect("see nothing of the account that made them", () =>
    Effect.gen(function* () {
      const { create } = yield* account("maker")
      const { client_id: id, secret } = (yield* create("reader")).body
      const { idp } = yield* TestRealm
      const { token } = yield* login(id, secret)
      const [, payload = ""] = token.split(".")
      const { sub } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { sub: string }
      assert.strictEqual(sub, idp.store.client(id)?.id)
      const own = yield* account(sub)
      assert.deepStrictEqual(yield* own.list, [])
      assert.strictEqual((yield* own.get(id)).status, 404)
    })
  )

  it.effect("end with the account that made them", () =>
    Effect.gen(function* () {
      const before = yield* agreed
      const { create, list } = yield* account("leaver")
      const { client_id: id, secret } = (yield* create("one")).body
      yield* create("two")
      const response = yield* TestServer.raw("/me/account/delete", {
        method: "POST",
        headers: {
          authorization: `Bearer ${yield* Accounts.bearerOf("leaver")}`,
          "content-type": "application/json"
        },
        body: JSON.stringify({ confirm: "DELETE" })
      })
      assert.strictEqual(response.status, 200)
      assert.deepStrictEqual(yield* list, [])
      assert.strictEqual(yield* agreed, before)
      assert.notStrictEqual((yield* login(id, secret)).status, 200)
    })
  )

  it.effect("leave nothing behind when any call to the provider fails or its answer is lost", () =>
    Effect.gen(function* () {
      const { decide } = yield* TestRealm
      const before = yield* agreed
      const mine = yield* account("unlucky")
      const kept = (yield* mine.create("kept")).body.client_id as string
      const steps = [
        { method: "POST", path: /\/clients$/ },
        { method: "GET", path: /\/client-secret$/ }
      ]
      for (const fate of ["refuse", "lose"] as const) {
        for (const { method, path } of steps) {
          decide((call) => (call.method === method && path.test(call.path) ? fate : "pass"))
          assert.strictEqual((yield* mine.create("unlucky")).status, 502)
          assert.deepStrictEqual(
            (yield* mine.list).map(({ client_id }) => client_id),
            [kept]
          )
        }
        decide((call) => (call.method === "DELETE" ? fate : "pass"))
        assert.strictEqual((yield* mine.remove(kept)).status, 502)
        assert.strictEqual((yield* mine.get(kept)).status, 200)
        decide(() => "pass")
        if (fate === "refuse") assert.strictEqual(yield* agreed, (before ?? 0) + 1)
      }
      assert.strictEqual((yield* mine.remove(kept)).status, 204)
      assert.strictEqual(yield* agreed, before)
    })
  )

  it.effect("leave nothing behind when the caller goes away in the middle", () =>
    Effect.gen(function* () {
      const { calls, decide } = yield* TestRealm
      const before = yield* agreed
      const token = yield* Accounts.bearerOf("hasty")
      const url = `${yield* TestServer.baseUrl}/me/service-accounts`
      decide((call) => (call.path.endsWith("/client-secret") ? "hang" : "pass"))
      const leaving = new AbortController()
      const seen = calls.length
      const request = fetch(url, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "hasty" }),
        signal: leaving.signal
      }).catch(() => undefined)
      yield* until(
        Effect.sync(() => calls.slice(seen).some(({ path }) => path.endsWith("/client-secret"))),
        (there) => there
      )
      leaving.abort()
      yield* Effect.promise(() => request)
      decide(() => "pass")
      assert.strictEqual(yield* agreed, before)
    })
  )
})
