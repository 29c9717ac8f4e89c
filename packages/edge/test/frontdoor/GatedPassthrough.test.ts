import { readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { mintPair, start, token } from "@catenet/testing/edge/TestEdge"
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
const stage = Effect.gen(function* () {
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
  const agent = yield* servingAgent(world, T, [host], origin, { answersChallenges: true })
  const order = (required: boolean) =>
    Effect.promise(async () => {
      const headers = { "x-ct-routing-token": T }
      const { status } = await world.admin("POST", "/internal/tunnel/login", { headers, body: { required } })
      assert.strictEqual(status, 200)
    })
  const visit = (alpn: string) =>
    Effect.promise(() => tlsTo(world.frontDoor, own.root, host, [alpn]).catch(() => undefined))
  return { agent, order, visit }
})

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
