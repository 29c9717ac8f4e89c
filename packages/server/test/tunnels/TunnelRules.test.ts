import { TunnelRules } from "@catenet/domain/api/TunnelControlsApi"
import { AccountLimitsChange } from "@catenet/domain/identity/AccountLimits"
import { TunnelChange } from "@catenet/domain/tunnels/Tunnel"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { FactsEdge } from "./records/FactsEdge.ts"
import { account, server, tunnel } from "./records/FactsServer.ts"

const read = Schema.decodeUnknownSync(TunnelRules)
const small = { max_body: "1 MiB" }
const office = { allow: ["10.0.0.0/8"] }
const path = "/internal/tunnel/rules"

layer(server({ CT_CP_RULES_PER_ACCOUNT: "3" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "rules of a tunnel",
  (it) => {
    it.effect("reach the edge as set, again before the hostname is authorized, and with what an edge restores", () =>
      Effect.gen(function* () {
        const edge = yield* FactsEdge
        const { id, token } = yield* tunnel("ada", "cam", "ruled.example.test")
        const { provisioning, tunnelControls } = yield* account("ada")
        const params = { id }
        const set = (...rules: ReadonlyArray<unknown>) => tunnelControls.setRules({ params, payload: read({ rules }) })
        const authorize = provisioning.authorizeHost({
          params: {
            routing_token: Schema.decodeSync(RoutingToken)(token),
            hostname: Schema.decodeSync(Hostname)("ruled.example.test")
          }
        })
        const known = Effect.gen(function* () {
          const headers = { "x-ct-admin-token": TestServer.adminToken }
          const response = yield* TestServer.raw("/internal/edges/rehydrate/primary", { headers })
          const all = (yield* Effect.promise(() => response.json())) as ReadonlyArray<{ token: string; rules: unknown }>
          return all.find((each) => each.token === token)?.rules
        })
        const authorizing = "/admin/authorize-host/ruled.example.test"

        assert.deepStrictEqual(yield* tunnelControls.getRules({ params }), read({ rules: [] }))
        assert.deepStrictEqual(yield* set(office, small), read({ rules: [office, small] }))
        assert.deepStrictEqual(yield* tunnelControls.getRules({ params }), read({ rules: [office, small] }))
        yield* edge.ordersUntil(token, path)
        yield* authorize
        yield* edge.ordersUntil(token, authorizing)
        assert.deepStrictEqual(yield* known, [office, small])
        yield* set()
        const orders = (yield* edge.ordersUntil(token, path)).filter((order) =>
          [path, authorizing].includes(order.path)
        )
        assert.deepStrictEqual(
          orders.slice(-4).map((order) => [order.path, order.body]),
          [
            [path, JSON.stringify([office, small])],
            [path, JSON.stringify([office, small])],
            [authorizing, ""],
            [path, "[]"]
          ]
        )
        assert.deepStrictEqual(yield* known, [])
      })
    )

    it.effect(
      "of all tunnels of an account are at most as many as the operator allows, and another account has its own",
      () =>
        Effect.gen(function* () {
          const { id: one } = yield* tunnel("bob", "one")
          const { id: two } = yield* tunnel("bob", "two")
          const { tunnelControls } = yield* account("bob")
          const set = (id: typeof one, ...rules: ReadonlyArray<unknown>) =>
            tunnelControls.setRules({ params: { id }, payload: read({ rules }) })
          yield* set(one, small, office)
          const refused = yield* Effect.flip(set(two, small, office))
          assert.deepInclude(refused, { _tag: "RuleLimitReached", limit: 3 })
          yield* set(two, small)
          assert.strictEqual((yield* Effect.flip(set(one, small, small, office)))._tag, "RuleLimitReached")
          yield* set(one, office, small)
          // An operator allows this account another number.
          const { operators } = yield* TestServer.client
          const limit = (max_rules: number | null) =>
            operators.changeLimits({
              params: { subject: Schema.decodeSync(Subject)("bob") },
              payload: new AccountLimitsChange({ max_rules })
            })
          assert.strictEqual((yield* limit(4)).max_rules, 4)
          yield* set(two, small, office)
          assert.deepInclude(yield* Effect.flip(set(two, small, small, office)), { limit: 4 })
          assert.strictEqual((yield* limit(null)).max_rules, 3)
          yield* set(two, small)
          assert.strictEqual((yield* Effect.flip(set(two, small, office)))._tag, "RuleLimitReached")
          const { id: other } = yield* tunnel("cy", "other")
          const { tunnelControls: others } = yield* account("cy")
          yield* others.setRules({ params: { id: other }, payload: read({ rules: [small, small, small] }) })
          for (const call of [set(other), tunnelControls.getRules({ params: { id: other } })])
            assert.strictEqual((yield* Effect.flip(call))._tag, "TunnelNotFound")
        })
    )

    it.effect("demand a login only of a tunnel that asks for one", () =>
      Effect.gen(function* () {
        const { id } = yield* tunnel("di", "gated")
        const { tunnelControls, tunnels } = yield* account("di")
        const payload = read({ rules: [small, { require_login: { domains: ["example.net"] } }] })
        const refused = yield* Effect.flip(tunnelControls.setRules({ params: { id }, payload }))
        assert.deepInclude(refused, { _tag: "RulesRefused", field: "rules[1].require_login" })
        assert.deepStrictEqual((yield* tunnelControls.getRules({ params: { id } })).rules, [])
        yield* tunnels.change({ params: { id }, payload: new TunnelChange({ require_login: true }) })
        assert.deepStrictEqual(yield* tunnelControls.setRules({ params: { id }, payload }), payload)
      })
    )
  }
)
