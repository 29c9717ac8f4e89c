import { HttpOnlyState } from "@catenet/domain/api/TunnelControlsApi"
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { Hostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { until } from "@catenet/testing/Eventually"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { FactsEdge } from "./records/FactsEdge.ts"
import { account, server, tunnel } from "./records/FactsServer.ts"

const Restored = Schema.Array(Schema.Struct({ token: Schema.String, http_only: Schema.Boolean }))

const policy = Schema.decodeSync(AccessPolicy)
const office = { tz_offset_minutes: 60, slots: [{ day: 0, start_minute: 540, end_minute: 1020 }] }

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })((it) => {
  describe("http-only of a tunnel", () => {
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
            [path, '{"http_only":true,"tls":false}'],
            [path, '{"http_only":true,"tls":false}'],
            [authorizing, ""],
            [path, '{"http_only":false,"tls":false}']
          ]
        )
        assert.isFalse(yield* known)
      })
    )

    it.effect("is its owner's alone", () =>
      Effect.gen(function* () {
        const { id } = yield* tunnel("bob", "plain")
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

  describe("the access window of a tunnel", () => {
    it.effect("reaches the edge as saved, re-armed and cleared, in that order, and again with the hostname", () =>
      Effect.gen(function* () {
        const edge = yield* FactsEdge
        const { id, token } = yield* tunnel("ada", "cam", "cam.example.test")
        const { provisioning, tunnelControls } = yield* account("ada")
        const params = { id }
        const before = yield* tunnelControls.getAccess({ params })
        assert.deepStrictEqual([before.policy, before.open, before.next_change], [null, true, null])

        const set = yield* tunnelControls.setAccess({ params, payload: policy({ schedule: office }) })
        assert.deepStrictEqual(set.policy, policy({ schedule: office }))
        assert.isNotNull(set.next_change)
        const unarmed = yield* tunnelControls.rearmAccess({ params })
        assert.deepStrictEqual(unarmed.policy, policy({ schedule: office }), "a schedule alone opens by itself")

        const soon = Math.floor(Date.now() / 1000) + 600
        yield* tunnelControls.setAccess({ params, payload: policy({ schedule: office, expires_at: soon }) })
        const rearmed = yield* tunnelControls.rearmAccess({ params })
        const expiresAt = rearmed.policy?.expires_at ?? 0
        assert.approximately(expiresAt, Date.now() / 1000 + 86_400, 60)
        assert.deepStrictEqual(rearmed.policy?.schedule, policy({ schedule: office }).schedule)

        yield* provisioning.authorizeHost({
          params: {
            routing_token: Schema.decodeSync(RoutingToken)(token),
            hostname: Schema.decodeSync(Hostname)("cam.example.test")
          }
        })
        yield* tunnelControls.clearAccess({ params })
        yield* tunnelControls.clearAccess({ params })
        const whole = { expires_at: expiresAt, schedule: office }
        assert.deepStrictEqual(yield* edge.policies(token, 6), [
          { expires_at: null, schedule: office },
          { expires_at: soon, schedule: office },
          whole,
          whole,
          null,
          null
        ])
        assert.isNull((yield* tunnelControls.getAccess({ params })).policy)
      })
    )

    it.effect("is closed for good once expired, until it is armed again", () =>
      Effect.gen(function* () {
        const { id } = yield* tunnel("bob", "cam")
        const { tunnelControls } = yield* account("bob")
        const params = { id }
        // Late enough for the answer to what is set now.
        const soon = Math.floor(Date.now() / 1000) + 4
        const set = yield* tunnelControls.setAccess({ params, payload: policy({ expires_at: soon }) })
        assert.deepStrictEqual([set.open, set.next_change as number | null], [true, soon])
        const closed = yield* until(tunnelControls.getAccess({ params }), ({ open }) => !open)
        assert.isNull(closed.next_change)
        assert.isTrue((yield* tunnelControls.rearmAccess({ params })).open)
      })
    )

    it.effect("waits for an edge that is away, and is what was saved last when it is back", () =>
      Effect.gen(function* () {
        const edge = yield* FactsEdge
        const { id, token } = yield* tunnel("cleo", "cam")
        const { tunnelControls } = yield* account("cleo")
        yield* edge.away(true)
        yield* tunnelControls.setAccess({ params: { id }, payload: policy({ schedule: office }) })
        yield* tunnelControls.clearAccess({ params: { id } })
        yield* edge.away(false)
        // An order that has failed is dropped for the later one, so the edge receives one or two of them.
        const received = yield* until(edge.policies(token, 1), (found) => found.at(-1) === null)
        assert.isAtMost(received.length, 2)
      })
    )
  })
})
