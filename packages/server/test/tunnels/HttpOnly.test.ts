import { HttpOnlyState } from "@catenet/domain/api/TunnelControlsApi"
import { Hostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { FactsEdge } from "./records/FactsEdge.ts"
import { account, server, tunnel } from "./records/FactsServer.ts"

const Restored = Schema.Array(Schema.Struct({ token: Schema.String, http_only: Schema.Boolean }))

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("http-only of a tunnel", (it) => {
  it.effect("reaches the edge as set, again before the hostname is authorized, and with what an edge restores", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("ada", "cam", "http.example.test")
      const { provisioning, tunnelControls } = yield* account("ada")
      const params = { id }
      const authorize = provisioning.authorizeHost({
        params: {
          routing_token: Schema.decodeSync(RoutingToken)(token),
          hostname: Schema.decodeSync(Hostname)("http.example.test")
        }
      })
      const set = (http_only: boolean) =>
        tunnelControls.setHttpOnly({ params, payload: new HttpOnlyState({ http_only }) })
      const known = Effect.gen(function* () {
        const headers = { "x-ct-admin-token": TestServer.adminToken }
        const response = yield* TestServer.raw("/internal/edges/rehydrate/primary", { headers })
        const all = yield* Effect.flatMap(
          Effect.promise(() => response.json()),
          Schema.decodeUnknownEffect(Restored)
        )
        return all.find((each) => each.token === token)?.http_only
      })
      const path = "/internal/tunnel/options"
      const authorizing = "/admin/authorize-host/http.example.test"

      assert.isFalse((yield* tunnelControls.getHttpOnly({ params })).http_only)
      yield* authorize
      assert.isFalse(yield* known)
      yield* edge.ordersUntil(token, authorizing)
      assert.isTrue((yield* set(true)).http_only)
      assert.isTrue((yield* tunnelControls.getHttpOnly({ params })).http_only)
      assert.isTrue(yield* known)
      yield* edge.ordersUntil(token, path)
      yield* authorize
      yield* edge.ordersUntil(token, authorizing)
      yield* set(false)
      assert.deepStrictEqual(
        (yield* edge.ordersUntil(token, path)).slice(-5).map((order) => [order.path, order.body]),
        [
          [authorizing, ""],
          [path, '{"http_only":true}'],
          [path, '{"http_only":true}'],
          [authorizing, ""],
          [path, '{"http_only":false}']
        ]
      )
      assert.isFalse(yield* known)
    })
  )

  it.effect("is its owner's alone", () =>
    Effect.gen(function* () {
      const { id } = yield* tunnel("bob", "cam")
      const { tunnelControls } = yield* account("eve")
      const payload = new HttpOnlyState({ http_only: true })
      const refused = [
        yield* Effect.flip(tunnelControls.setHttpOnly({ params: { id }, payload })),
        yield* Effect.flip(tunnelControls.getHttpOnly({ params: { id } }))
      ]
      assert.deepStrictEqual(
        refused.map(({ _tag }) => _tag),
        ["TunnelNotFound", "TunnelNotFound"]
      )
    })
  )
})
