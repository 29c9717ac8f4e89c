import type { Rules } from "@catenet/domain/rules/Rules"
import { muxAgent, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { start, type TestEdge, token } from "@catenet/testing/edge/TestEdge"
import { echoing, holdRules, overHttp1, overHttp2 } from "@catenet/testing/proxy/RuleCases"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect as connectTcp } from "node:net"
import { connect } from "node:tls"

const order = async (world: TestEdge, tunnel: string, rules: Rules) => {
  const headers = { "x-ct-routing-token": tunnel }
  assert.strictEqual((await world.admin("POST", "/internal/tunnel/rules", { headers, body: rules })).status, 200)
}

/** A host whose TLS the edge ends, with an origin behind its agent. */
const stage = Effect.fnUntraced(function* (world: TestEdge, digit: string) {
  const { seen, server } = echoing()
  const [tunnel, host] = [token(digit), `app${digit}.zone.test`]
  yield* Effect.promise(() => world.authorize(tunnel, host, "gelb"))
  yield* servingAgent(world, tunnel, [host], (stream) => void server.emit("connection", stream))
  const dial = (alpn: ReadonlyArray<string>) =>
    connect({
      socket: connectTcp({ host: "127.0.0.1", port: world.frontDoor }),
      servername: host,
      ca: world.wildcardRoot,
      ALPNProtocols: [...alpn]
    })
  return { host, dial, reached: () => seen.count, setRules: (rules: Rules) => order(world, tunnel, rules) }
})

describe("an edge that ends TLS and applies the rules of a tunnel", () => {
  it.live("does what each says over HTTP/1.1 and HTTP/2, and counts refusals by rule", () =>
    Effect.gen(function* () {
      const world = yield* start()
      for (const [digit, over] of [
        ["1", overHttp1],
        ["2", overHttp2]
      ] as const) {
        const { dial, host, reached, setRules } = yield* stage(world, digit)
        yield* Effect.promise(() => holdRules(setRules, over(host, dial), reached))
      }
      const metrics = yield* Effect.promise(() => world.metrics())
      assert.strictEqual(metrics['ct_edge_rule_refused_total{rule="allow"}'], 2)
      assert.strictEqual(metrics['ct_edge_rule_refused_total{rule="basic_auth"}'], 6)
    }).pipe(Effect.scoped)
  )

  it.live("leaves those of an end-to-end host to agents that apply them, and closes it where one does not", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const hosts = { plain: "plain.example.test", applied: "applied.example.test" }
      const applies = { enforces: [{ name: "rules", version: 1 }] }
      const served: Array<string> = []
      for (const [digit, host, more] of [
        ["3", hosts.plain, {}],
        ["4", hosts.applied, applies]
      ] as const) {
        yield* Effect.promise(() => world.authorize(token(digit), host))
        const { register } = yield* muxAgent(world, (stream) => {
          served.push(host)
          stream.destroy()
        })
        yield* Effect.promise(() => register(token(digit), [host], undefined, more))
        yield* Effect.promise(() => order(world, token(digit), [{ max_body: "1 KiB" as never }]))
        yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, host).catch(() => undefined))
      }
      assert.deepStrictEqual(served, [hosts.applied])
      yield* Effect.promise(() => order(world, token("3"), []))
      yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, hosts.plain).catch(() => undefined))
      assert.deepStrictEqual(served, [hosts.applied, hosts.plain])
    }).pipe(Effect.scoped)
  )
})
