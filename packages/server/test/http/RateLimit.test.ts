import { until } from "@catenet/testing/Eventually"
import { bearerOf, serviceAccountOf, server, sessionOf } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { request } from "node:http"

const ask = (headers: Readonly<Record<string, string>>, path = "/me/tunnels") =>
  Effect.map(TestServer.raw(path, { headers }), ({ headers: answered, status }) => ({
    status,
    left: answered.get("ratelimit")?.replace(/;t=\d+$/, ""),
    policy: answered.get("ratelimit-policy"),
    later: answered.get("retry-after")
  }))

const policy = `"caller";q=2;w=60`
const left = (requests: number) => ({ status: 200, left: `"caller";r=${requests}`, policy, later: null })

layer(server({ CT_CP_REQUESTS_PER_MIN: "2" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "the limit of requests",
  (it) => {
    it.effect("is separate for each account, even if all come from one address", () =>
      Effect.gen(function* () {
        const ada = { authorization: `Bearer ${yield* bearerOf("ada")}` }
        const adaInBrowser = { cookie: `__Host-ct_portal_session=${yield* sessionOf("ada", null)}` }
        const bob = { authorization: `Bearer ${yield* bearerOf("bob")}` }
        assert.deepStrictEqual(yield* ask(ada), left(1))
        assert.deepStrictEqual(yield* ask(adaInBrowser), left(0))
        const refused = yield* ask(ada)
        assert.deepInclude(refused, { status: 429, left: `"caller";r=0`, policy })
        assert.match(refused.later ?? "", /^[1-9]\d?$/)
        const robot = { authorization: `Bearer ${yield* serviceAccountOf("ada", "robot")}` }
        assert.strictEqual((yield* ask(robot)).status, 429, "a service account has no requests beside its maker's")
        assert.deepStrictEqual(yield* ask(bob), left(1))
        assert.deepStrictEqual(
          yield* ask({}, "/registry/agents"),
          left(1),
          "a request without credentials spends the address's budget"
        )
      })
    )
  }
)

layer(server({ CT_CP_REQUESTS_PER_MIN: "100" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "the cost of a request",
  (it) => {
    it.effect("grows with its body, for the account that sent it alone", () =>
      Effect.gen(function* () {
        const suggest = (sub: string, bytes: number) =>
          Effect.gen(function* () {
            const headers = { "content-type": "application/json", authorization: `Bearer ${yield* bearerOf(sub)}` }
            const body = JSON.stringify({ links: [], shortcut_budget: 0 }).padEnd(bytes)
            const path = `/me/topologies/${"0".repeat(32)}/suggest`
            const answer = yield* TestServer.raw(path, { method: "POST", headers, body })
            return { status: answer.status, left: answer.headers.get("ratelimit")?.replace(/;t=\d+$/u, "") }
          })
        assert.deepStrictEqual(yield* suggest("ada", 1024), { status: 404, left: `"caller";r=99` })
        assert.deepStrictEqual(yield* suggest("ada", 1025), { status: 404, left: `"caller";r=97` })
        assert.deepStrictEqual(yield* suggest("ada", 300 * 1024), { status: 404, left: `"caller";r=0` })
        assert.strictEqual((yield* suggest("ada", 100)).status, 429)
        assert.deepStrictEqual(yield* suggest("bob", 100), { status: 404, left: `"caller";r=99` })
      })
    )

    it.effect("grows with its response too", () =>
      Effect.gen(function* () {
        const authorization = `Bearer ${yield* bearerOf("cleo")}`
        const listed = Effect.gen(function* () {
          const answer = yield* TestServer.raw("/me/agents-directory", { headers: { authorization } })
          const { length } = yield* Effect.promise(() => answer.text())
          return { length, left: Number(/r=(\d+)/u.exec(answer.headers.get("ratelimit") ?? "")?.[1]) }
        })
        const entries = Effect.flatMap(TestDatabase, ({ url }) =>
          Effect.provide(
            SqlClient.SqlClient.use(
              (sql) => sql`insert into directory_agents
                select md5('a' || n) || md5('b' || n), 'https://a.example/' || repeat('c', 1000), '{}', '{}', 1, 'cleo', 4000000000
                from generate_series(1, 3000) n`
            ),
            PgClient.layer({ url, maxConnections: 1 })
          )
        )
        assert.strictEqual((yield* listed).left, 99)
        yield* entries
        const { left, length } = yield* listed
        assert.isAbove(length, 3_000_000)
        // What comes back in the meantime is less than two in a second.
        assert.isBelow((yield* listed).left, left - 20)
      })
    )
  }
)

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("suggestions of one account", (it) => {
  it.effect("come one after the other, nine at most, and those of another account go on", () =>
    Effect.gen(function* () {
      const url = new URL(`/me/topologies/${"0".repeat(32)}/suggest`, yield* TestServer.baseUrl)
      const text = JSON.stringify({ links: [], shortcut_budget: 0 })
      const answers: Array<readonly [number, string | undefined]> = []
      /** A request of which the last byte of the body is sent later. */
      const begun = (sub: string) =>
        Effect.map(bearerOf(sub), (token) => {
          const headers = { "content-type": "application/json", authorization: `Bearer ${token}` }
          const sent = request(url, {
            method: "POST",
            agent: false,
            headers: { ...headers, "content-length": text.length }
          })
          const status = new Promise<readonly [number, string | undefined]>((resolve) => {
            sent.once("response", ({ headers: { "retry-after": later }, statusCode = 0 }) => {
              answers.push([statusCode, later])
              resolve([statusCode, later])
            })
            // One that was refused has no use for the rest of its body.
            sent.on("error", () => {})
          })
          sent.write(text.slice(0, -1))
          return { status: Effect.promise(() => status), end: Effect.sync(() => void sent.end(text.slice(-1))) }
        })
      const sent = yield* Effect.forEach(Array.from({ length: 21 }), () => begun("ada"))
      const refused = yield* until(
        Effect.sync(() => answers.filter(([status]) => status === 429)),
        ({ length }) => length === 12
      )
      assert.deepStrictEqual(refused[0], [429, "1"])
      const other = yield* begun("bob")
      yield* other.end
      assert.deepStrictEqual(yield* other.status, [404, undefined])
      assert.strictEqual(answers.length, 13, "one has its turn, and eight wait for it")
      yield* Effect.forEach(sent, ({ end }) => end)
      const all = yield* Effect.all(sent.map(({ status }) => status))
      assert.strictEqual(all.filter(([status]) => status === 404).length, 9)
    })
  )
})
