import { readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { mintPair, start, token } from "@catenet/testing/edge/TestEdge"
import { until } from "@catenet/testing/Eventually"
import type { RegisterRequest } from "@catenet/wire/frames/MuxRegister"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { Socket } from "node:net"
import { TLSSocket } from "node:tls"

const T = token("7")
const host = "own.zone.test"
const own = mintPair([host])

/** A host with a certificate of its own, whose agent ends TLS, and a visitor of it. */
const stageOf = Effect.fnUntraced(function* (more: Partial<RegisterRequest>) {
  const world = yield* start()
  yield* Effect.promise(() => world.authorize(T, host))
  const server = createServer((_request, response) => void response.end("the origin"))
  const origin = (stream: CarrierStream) => {
    const tls = new TLSSocket(stream as unknown as Socket, { isServer: true, cert: own.cert, key: own.key })
    server.emit(
      "connection",
      tls.on("error", () => undefined)
    )
  }
  const agent = yield* servingAgent(world, T, [host], origin, { answersChallenges: true, ...more })
  const order = (required: boolean) =>
    Effect.promise(async () => {
      const headers = { "x-ct-routing-token": T }
      const { status } = await world.admin("POST", "/internal/tunnel/login", { headers, body: { required } })
      assert.strictEqual(status, 200)
    })
  const visit = (alpn: string) =>
    Effect.promise(() => tlsTo(world.frontDoor, own.root, host, [alpn]).catch(() => undefined))
  const join = (more: Partial<RegisterRequest>) => servingAgent(world, T, [host], origin, more)
  return { agent, join, order, visit }
})
const stage = stageOf({})

const ask = (visitor: TLSSocket) =>
  Effect.promise(() => {
    const answer = readUntil(visitor, "the origin")
    visitor.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    return answer
  })

describe("a host with a certificate of its own", () => {
  it.live("is closed while its visitors have to log in, and those who are there are cut within a second", () =>
    Effect.gen(function* () {
      const { agent, order, visit } = yield* stage
      const visitor = yield* visit("http/1.1")
      assert(visitor !== undefined)
      assert.match(yield* ask(visitor), /^HTTP\/1.1 200 /)
      const cut = new Promise<true>((resolve) => {
        visitor.resume().on("error", () => undefined)
        for (const event of ["end", "close"]) visitor.once(event, () => resolve(true))
      })
      yield* order(true)
      const wasCut = yield* Effect.timeoutOption(
        Effect.promise(() => cut),
        "1 second"
      )
      assert.strictEqual(wasCut._tag, "Some")
      const before = agent.streams.length
      assert.isUndefined(yield* visit("http/1.1"))
      assert.isUndefined(yield* visit("h2"))
      assert.lengthOf(agent.streams, before, "no stranger reaches the agent")
      yield* order(false)
      const again = yield* visit("http/1.1")
      assert(again !== undefined)
      assert.match(yield* ask(again), /^HTTP\/1.1 200 /)
      again.destroy()
    }).pipe(Effect.scoped)
  )

  it.live("stays open while its visitors have to log in where every agent asks them, and says so to these agents", () =>
    Effect.gen(function* () {
      const enforces = [{ name: "gate", version: 1 }]
      const { agent, join, order, visit } = yield* stageOf({ enforces })
      assert.isTrue(agent.registration.answer.announcesPolicy)
      const told: Array<bigint> = []
      agent.registration.onPolicy((revision) => void told.push(revision))
      const before = yield* visit("http/1.1")
      assert(before !== undefined)
      assert.match(yield* ask(before), /^HTTP\/1.1 200 /)
      assert.isUndefined(agent.streams.at(-1)?.header?.gated)
      yield* order(true)
      yield* Effect.promise(() => agent.mux.ping())
      assert.deepStrictEqual(told, [0n], "of an order without a revision")
      assert.match(yield* ask(before), /^HTTP\/1.1 200 /, "the agent decides about those who are there")
      const visitor = yield* visit("http/1.1")
      assert(visitor !== undefined)
      assert.match(yield* ask(visitor), /^HTTP\/1.1 200 /)
      assert.isTrue(agent.streams.at(-1)?.header?.gated)

      const others = [yield* join({ enforces: [{ name: "windows", version: 1 }] }), yield* join({})]
      assert.isUndefined(yield* visit("http/1.1"), "while one of them does not")
      for (const other of others) {
        other.mux.close("normal")
        yield* Effect.promise(() => other.mux.closed)
      }
      const again = yield* until(visit("http/1.1"), (visitor) => visitor !== undefined)
      for (const each of [before, visitor, again]) each?.destroy()
    }).pipe(Effect.scoped)
  )

  it.live(
    "is still validated by its authority while it is closed, by an agent that answers from an order of its own",
    () =>
      Effect.gen(function* () {
        const { agent, order, visit } = yield* stage
        yield* order(true)
        yield* visit("acme-tls/1")
        assert.deepInclude(agent.streams[0]?.header, { kind: "acme", challengeOnly: true })
      }).pipe(Effect.scoped)
  )
})
