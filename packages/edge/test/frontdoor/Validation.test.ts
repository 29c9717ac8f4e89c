import { servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { mintPair, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Socket } from "node:net"
import { TLSSocket } from "node:tls"

const T = token("2")
const tunnelHost = "app.zone.test"
const closedPolicy = { expires_at: 1, schedule: null }
const acme = ["acme-tls/1"]
const own = mintPair([tunnelHost])

/** Ends TLS as an origin does, whatever the visitor offers. */
const origin = (stream: CarrierStream) => {
  const server = new TLSSocket(stream as unknown as Socket, { isServer: true, cert: own.cert, key: own.key })
  server.on("error", () => undefined)
}

const close = (world: TestEdge) =>
  Effect.promise(async () => {
    const headers = { "x-ct-routing-token": T }
    const { status } = await world.admin("POST", "/internal/tunnel/access-policy", { headers, body: closedPolicy })
    assert.strictEqual(status, 200)
  })

/** How the tunnel is authorized: `admission` as seconds from now. */
const authorize = (world: TestEdge, tier: "gelb" | "passthrough", admission?: number) =>
  Effect.promise(async () => {
    const query = new URLSearchParams(tier === "gelb" ? { channel_tier: "gelb" } : {})
    if (admission !== undefined) query.set("admission_until", String(Math.floor(Date.now() / 1_000) + admission))
    const { status } = await world.admin("POST", `/admin/authorize-host/${T}/${tunnelHost}?${query}`)
    assert.strictEqual(status, 200)
  })

/** Whether the visitor meets what answers behind the tunnel. */
const arrives = (world: TestEdge, alpn: ReadonlyArray<string>) =>
  Effect.promise(() =>
    tlsTo(world.frontDoor, own.root, tunnelHost, alpn).then(
      (visitor) => {
        visitor.destroy()
        return true
      },
      () => false
    )
  )

describe("a visitor that offers acme-tls/1", () => {
  for (const tier of ["gelb", "passthrough"] as const)
    it.live(
      `never reaches the origin of a ${tier} host through its closed window, even while the admission is open`,
      () =>
        Effect.gen(function* () {
          const world = yield* start()
          yield* authorize(world, tier, 60)
          yield* close(world)
          const agent = yield* servingAgent(world, T, [tunnelHost], origin)
          for (const alpn of [acme, ["acme-tls/1", "http/1.1"], ["h2", "acme-tls/1"], ["acme-tls/1", "mqtt"], []])
            assert.isFalse(yield* arrives(world, alpn), alpn.join())
          assert.lengthOf(agent.streams, 0)
          const answers = yield* servingAgent(world, T, [tunnelHost], origin, { answersChallenges: true })
          assert.isTrue(yield* arrives(world, acme))
          assert.deepInclude(answers.streams[0]?.header, { kind: "acme", tls: "passthrough", challengeOnly: true })
          assert.lengthOf(agent.streams, 0)
        }).pipe(Effect.scoped)
    )

  it.live("is passed through at an open edge-terminated host only while the host is being validated", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* authorize(world, "gelb")
      const agent = yield* servingAgent(world, T, [tunnelHost], origin)
      const reached = Effect.map(arrives(world, acme), () => agent.streams.length > 0)
      assert.isFalse(yield* reached, "no admission is open")
      yield* authorize(world, "gelb", 0)
      assert.isFalse(yield* reached, "the admission is over")
      for (const [path, on] of [
        ["login", "required"],
        ["options", "http_only"]
      ] as const) {
        const order = (required: boolean) =>
          Effect.promise(() =>
            world.admin("POST", `/internal/tunnel/${path}`, {
              headers: { "x-ct-routing-token": T },
              body: { [on]: required }
            })
          )
        assert.strictEqual((yield* order(true)).status, 200)
        yield* authorize(world, "gelb", 60)
        assert.isFalse(yield* reached, path)
        assert.strictEqual((yield* order(false)).status, 200)
      }
      assert.isTrue(yield* reached)
      assert.deepInclude(agent.streams[0]?.header, { kind: "acme", tls: "passthrough" })
      assert.notProperty(agent.streams[0]?.header, "challengeOnly")
    }).pipe(Effect.scoped)
  )

  it.live("reaches an agent that answers challenges and does not dial its origin", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* authorize(world, "passthrough")
      yield* close(world)
      yield* servingAgent(world, T, [tunnelHost], origin)
      const agent = yield* servingAgent(world, T, [tunnelHost], origin, { answersChallenges: true })
      assert.isTrue(yield* arrives(world, acme))
      assert.deepInclude(agent.streams[0]?.header, { kind: "acme", challengeOnly: true })
      assert.isFalse(yield* arrives(world, ["acme-tls/1", "http/1.1"]))
      assert.lengthOf(agent.streams, 1)
    }).pipe(Effect.scoped)
  )

  it.live("is an ordinary visitor while the window is open", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* authorize(world, "passthrough")
      yield* servingAgent(world, T, [tunnelHost], origin)
      assert.isTrue(yield* arrives(world, acme))
      assert.isTrue(yield* arrives(world, ["acme-tls/1", "http/1.1"]))
    }).pipe(Effect.scoped)
  )

  it.live("is validated by the admission that an edge restores at its start", () =>
    Effect.gen(function* () {
      const first = yield* start()
      first.controlPlane.authorizations.push({
        token: T,
        hostname: tunnelHost,
        tier: "gelb",
        policy: null,
        admission_until: Math.floor(Date.now() / 1_000) + 60
      })
      const world = yield* start({}, { controlPlane: first.controlPlane })
      const agent = yield* servingAgent(world, T, [tunnelHost], origin)
      yield* arrives(world, acme)
      assert.deepInclude(agent.streams[0]?.header, { kind: "acme", tls: "passthrough" })
    }).pipe(Effect.scoped)
  )
})
