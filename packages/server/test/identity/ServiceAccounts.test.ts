import { EdgeId } from "@catenet/domain/edges/EdgeNode"
import { TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Subject } from "@catenet/domain/values/Ids"
import { until } from "@catenet/testing/Eventually"
import * as Accounts from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ServiceAccountStore } from "../../src/identity/ServiceAccountStore.ts"
import { account, agreed, rows, second, server } from "./RealmServer.ts"
import { clients, login, TestRealm } from "./TestRealm.ts"

/** An access token of a service account that an account has made. */
const robotOf = Effect.fnUntraced(function* (owner: string, sub: string) {
  const { create } = yield* account(owner)
  const azp = (yield* create(sub)).body.client_id as string
  return yield* TestIssuer.use(({ token }) => token({ sub, azp, preferred_username: `service-account-${azp}` }))
})

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

  it.effect("use the limits and shares of the account that made them, and those of nobody else", () =>
    Effect.gen(function* () {
      const of = Effect.fnUntraced(function* (bearer: string) {
        const { tunnels } = yield* TestServer.clientAs({ bearer })
        const tunnel = (name: string) =>
          Effect.result(tunnels.create({ headers: {}, payload: { name: Schema.decodeSync(TunnelName)(name) } }))
        return { tunnel, listed: Effect.map(tunnels.list({ query: {} }), ({ length }) => length) }
      })
      const person = yield* of(yield* Accounts.bearerOf("pat"))
      const robot = yield* of(yield* robotOf("pat", "pat-robot"))
      assert.strictEqual(yield* robot.listed, 0)
      const second = yield* of(yield* robotOf("pat-robot", "pat-second"))
      const other = yield* of(yield* robotOf("quinn", "quinn-robot"))
      const family = [person, robot, second]
      const made = yield* Effect.all(
        [...family, ...family, ...family, ...family].map(({ tunnel }, n) => tunnel(`t${n}`)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(made.filter(Result.isSuccess).length, 10)
      for (const { tunnel } of family)
        assert.strictEqual((yield* Effect.flip(Effect.fromResult(yield* tunnel("more"))))._tag, "TunnelLimitReached")
      assert.isTrue(Result.isSuccess(yield* other.tunnel("mine")))
      const listed = yield* Effect.all(family.map(({ listed }) => listed))
      assert.strictEqual(
        listed.reduce((sum, one) => sum + one, 0),
        10,
        "each sees its own alone"
      )

      const { edges, operators } = yield* TestServer.client
      const known = yield* edges.rehydrate({ params: { edge_id: EdgeId.make("primary") }, query: {} })
      const names = Object.groupBy(known, ({ owner_account: name }) => name ?? "")
      assert.deepStrictEqual(
        Object.values(names)
          .map((tunnels) => tunnels?.length)
          .toSorted(),
        [1, 10],
        "edges know one account for the three"
      )

      const params = { subject: Schema.decodeSync(Subject)("pat-robot") }
      yield* operators.setMaxTunnels({ params, payload: { max: (yield* robot.listed) + 1 } })
      assert.isTrue(Result.isSuccess(yield* robot.tunnel("own")), "an operator gave it a limit of its own")
      assert.isFalse(Result.isSuccess(yield* robot.tunnel("more")))
    })
  )

  it.effect("count for their maker after they are deleted, as long as they own something", () =>
    Effect.gen(function* () {
      const robot = yield* TestServer.clientAs({ bearer: yield* robotOf("lou", "lou-robot") })
      const payload = { name: Schema.decodeSync(TunnelName)("left") }
      const { id } = yield* robot.tunnels.create({ headers: {}, payload })
      const { list, remove } = yield* account("lou")
      for (const { client_id } of yield* list) yield* remove(client_id)
      const makers = (run: Effect.Effect<unknown, unknown, SqlClient.SqlClient>) =>
        Effect.flatMap(run, () =>
          SqlClient.SqlClient.use(
            (sql) => sql<{ maker: string }>`select maker from service_account_makers where subject = 'lou-robot'`
          )
        ).pipe(Effect.provide(Layer.fresh(Accounts.database)))
      const forget = Effect.flatMap(ServiceAccountStore.make, ({ forgetMakers }) => forgetMakers)
      assert.deepStrictEqual(yield* makers(forget), [{ maker: "lou" }])
      const dropped = SqlClient.SqlClient.use((sql) => sql`delete from tunnels where id = ${id}`)
      assert.deepStrictEqual(yield* makers(Effect.andThen(dropped, forget)), [])
    })
  )

  it.effect("are fifty with those that they make", () =>
    Effect.gen(function* () {
      const token = yield* robotOf("rob", "rob-robot")
      const create = (bearer: string) =>
        Effect.map(
          TestServer.raw("/me/service-accounts", {
            method: "POST",
            headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
            body: JSON.stringify({ name: "n" })
          }),
          ({ status }) => status
        )
      const bearers = [token, yield* Accounts.bearerOf("rob")]
      assert.strictEqual(yield* create(token), 200)
      const answers = yield* Effect.forEach(Array.from({ length: 52 }), (_, n) => create(bearers[n % 2] ?? ""), {
        concurrency: 4
      })
      assert.strictEqual(answers.filter((status) => status === 200).length, 48)
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
