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
