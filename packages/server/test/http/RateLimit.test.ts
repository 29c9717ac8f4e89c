import { bearerOf, server, sessionOf } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

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
    it.effect("is each account's own, however it signs in, though all come from one address", () =>
      Effect.gen(function* () {
        const ada = { authorization: `Bearer ${yield* bearerOf("ada")}` }
        const adaInBrowser = { cookie: `__Host-ct_portal_session=${yield* sessionOf("ada", null)}` }
        const bob = { authorization: `Bearer ${yield* bearerOf("bob")}` }
        assert.deepStrictEqual(yield* ask(ada), left(1))
        assert.deepStrictEqual(yield* ask(adaInBrowser), left(0))
        const refused = yield* ask(ada)
        assert.deepInclude(refused, { status: 429, left: `"caller";r=0`, policy })
        assert.match(refused.later ?? "", /^[1-9]\d?$/)
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
  }
)
