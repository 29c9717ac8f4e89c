import { servingAgent, slotAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { mintPair, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import type { CertificateState, HostCertificate } from "@catenet/wire/frames/MuxCertificate"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Result } from "effect"
import type { Socket } from "node:net"
import { TLSSocket } from "node:tls"

const T = token("2")
const host = "own.example.test"
const own = mintPair([host])

const origin = (stream: CarrierStream) => {
  const server = new TLSSocket(stream as unknown as Socket, { isServer: true, cert: own.cert, key: own.key })
  server.on("error", () => undefined)
}

const said = (certificate: CertificateState["certificate"], order: CertificateState["order"] = "none") =>
  ({ host, certificate, order }) satisfies HostCertificate

const agent = (world: TestEdge, state?: HostCertificate) =>
  servingAgent(world, T, [host], origin, state === undefined ? {} : { certificates: [state] })

const visits = (world: TestEdge, times = 1, alpn: ReadonlyArray<string> = []) =>
  Effect.promise(async () => {
    for (let i = 0; i < times; i++) (await tlsTo(world.frontDoor, own.root, host, alpn)).destroy()
  })

describe("the agent that gets a visitor of a passthrough host", () => {
  it.live("is one that does not say that it has no certificate", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, host))
      const [before, holding, bare] = [
        yield* agent(world),
        yield* agent(world, said("held")),
        yield* agent(world, said("none"))
      ]
      assert.isTrue(holding.registration.answer.heedsCertificates)
      // Of two that are as good, the less loaded: every stream stays open until its visitor's end is seen.
      yield* visits(world, 12)
      assert.lengthOf(bare.streams, 0)
      assert.strictEqual(before.streams.length + holding.streams.length, 12)
      before.mux.close("normal")
      bare.registration.report(said("held"))
      holding.registration.report(said("none"))
      yield* Effect.promise(() => Promise.all([bare.mux.ping(), holding.mux.ping(), before.mux.closed]))
      const [ofHolding] = [holding.streams.length]
      yield* visits(world, 3)
      assert.lengthOf(bare.streams, 3)
      assert.lengthOf(holding.streams, ofHolding)
    }).pipe(Effect.scoped)
  )

  it.live("is any where none ever had a certificate, and is waited for where one had it lately", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "200" })
      yield* Effect.promise(() => world.authorize(T, host))
      const bare = yield* agent(world, said("none"))
      yield* visits(world)
      assert.lengthOf(bare.streams, 1)
      const holding = yield* agent(world, said("held"))
      holding.mux.close("normal")
      yield* Effect.promise(() => holding.mux.closed)
      const refused = yield* Effect.exit(visits(world))
      assert.isTrue(Exit.isFailure(refused), "the one that had it may come back in time")
      assert.lengthOf(bare.streams, 1)
      bare.registration.report(said("held"))
      yield* visits(world)
      assert.lengthOf(bare.streams, 2)
    }).pipe(Effect.scoped)
  )

  it.live("may be one of the byte protocol, which says nothing", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, host))
      const bare = yield* agent(world, said("none"))
      const slot = yield* slotAgent(world, T, "L", host)
      const visit = yield* Effect.forkChild(visits(world))
      const { taken } = Result.getOrThrow(slot.parked)
      origin(Result.getOrThrow(yield* Effect.promise(() => taken)) as unknown as CarrierStream)
      yield* Fiber.join(visit)
      assert.lengthOf(bare.streams, 0)
    }).pipe(Effect.scoped)
  )
})

describe("the agent that gets a validation", () => {
  it.live("is the one with the open order, and any where none says that it has one", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, host))
      const [holding, ordering] = [yield* agent(world, said("held")), yield* agent(world, said("none", "open"))]
      const acme = ["acme-tls/1"]
      yield* visits(world, 6, acme)
      assert.lengthOf(holding.streams, 0)
      assert.deepInclude(ordering.streams[0]?.header, { kind: "acme", tls: "passthrough" })
      ordering.registration.report(said("held"))
      yield* Effect.promise(() => ordering.mux.ping())
      const loaded = yield* Effect.promise(async () => tlsTo(world.frontDoor, own.root, host))
      const [first, second] = [holding.streams.length, ordering.streams.length]
      yield* visits(world, 1, acme)
      assert.strictEqual(holding.streams.length + ordering.streams.length, first + second + 1)
      loaded.destroy()
    }).pipe(Effect.scoped)
  )
})
