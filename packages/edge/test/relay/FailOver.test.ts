/**
 * What a visitor sees of an agent that is lost.
 * One file, since all cases are one question, which agent answers when another is lost.
 */
import { muxAgent, readAll, readUntil, servingAgent, slotAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { helloFor, withExtension } from "@catenet/testing/edge/Hello"
import { eventually, mintPair, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import { connect, type Socket } from "node:net"
import { TLSSocket } from "node:tls"

const T = token("f")
const tunnelHost = "app.zone.test"
const earlyData = 42
const get = `GET /hello HTTP/1.1\r\nHost: ${tunnelHost}\r\n\r\n`
const answer = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`

/** Answers the request and keeps what was asked. */
const answering = (text: string, heard: Array<string> = []) => ({
  heard,
  serve: (stream: CarrierStream) =>
    void readUntil(stream, "\r\n\r\n").then((head) => {
      heard.push(head)
      stream.end(answer(text))
    })
})

/** An agent whose connection is cut, as by a kill, when `when` says so of what a stream has said so far. */
const dyingAgent = Effect.fn("dyingAgent")(function* (
  world: TestEdge,
  when: (heard: Buffer, stream: CarrierStream) => boolean | Promise<boolean>
) {
  const heard: Array<Buffer> = []
  const agent = yield* servingAgent(world, T, [tunnelHost], (stream) => {
    stream.on("data", async (chunk: Buffer) => {
      heard.push(chunk)
      if (await when(Buffer.concat(heard), stream)) agent.socket.destroy()
    })
  })
  return { ...agent, heard: () => Buffer.concat(heard) }
})

const atOnce = () => true
const after = (bytes: number) => (heard: Buffer) => heard.length >= bytes
const once = (text: string) => (heard: Buffer) => heard.includes(text)

/** Everything the visitor hears until its connection is over, however that ends. */
const hear = (visitor: Socket) =>
  new Promise<string>((resolve) => {
    const said: Array<Buffer> = []
    const over = () => resolve(Buffer.concat(said).toString("latin1"))
    visitor.on("data", (chunk: Buffer) => said.push(chunk))
    visitor.once("close", over).once("end", over).once("error", over)
  })

const ask = (world: TestEdge, request = get) =>
  Effect.promise(async () => {
    const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
    const heard = hear(visitor)
    visitor.write(request)
    const said = await heard
    visitor.destroy()
    return said
  })

const dial = (world: TestEdge) => connect({ host: "127.0.0.1", port: world.frontDoor, allowHalfOpen: true })

const gelb = Effect.fn(function* (variables: Record<string, string> = {}) {
  const world = yield* start(variables)
  yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
  return world
})

const figures = async (world: TestEdge) => {
  const metrics = await world.metrics()
  return {
    relays: metrics["ct_edge_relays_total"],
    failovers: metrics["ct_edge_failovers_total"],
    active: metrics["ct_edge_active_relays"],
    toAgents: metrics['ct_edge_relay_bytes_direction_total{direction="to_agent"}'],
    toVisitors: metrics['ct_edge_relay_bytes_direction_total{direction="to_visitor"}']
  }
}

const settled = (world: TestEdge) =>
  Effect.promise(async () => {
    await eventually(async () => (await figures(world)).active === 0, "no relay runs")
    return figures(world)
  })

describe("an agent that dies before its first byte", () => {
  it.live("is replaced for a visitor of a gelb host, and no byte is counted twice", () =>
    Effect.gen(function* () {
      const world = yield* gelb()
      const dying = yield* dyingAgent(world, once("\r\n\r\n"))
      const second = answering("second")
      yield* servingAgent(world, T, [tunnelHost], second.serve)
      assert.strictEqual(yield* ask(world), answer("second"))
      assert.strictEqual(second.heard[0], dying.heard().toString())
      assert.deepStrictEqual(yield* settled(world), {
        relays: 1,
        failovers: 1,
        active: 0,
        toAgents: dying.heard().length,
        toVisitors: answer("second").length
      })
      const { body } = yield* Effect.promise(() => world.admin("GET", `/admin/tunnel-status/${T}`))
      assert.deepInclude(body, { bytes_received: dying.heard().length, bytes_sent: answer("second").length })
    }).pipe(Effect.scoped)
  )

  it.live("is replaced also when the visitor has ended its half", () =>
    Effect.gen(function* () {
      const world = yield* gelb()
      yield* dyingAgent(world, once("\r\n\r\n"))
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        void readAll(stream).then((said) => stream.end(answer(`${said.toString().startsWith("GET /hello")}`)))
      })
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      const heard = hear(visitor)
      visitor.end(get)
      assert.strictEqual(yield* Effect.promise(() => heard), answer("true"))
      assert.include(yield* settled(world), { relays: 1, failovers: 1 })
    }).pipe(Effect.scoped)
  )

  it.live("is replaced in the handshake of a passthrough host", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const dying = yield* dyingAgent(world, atOnce)
      const origin = mintPair([tunnelHost])
      const said: Array<Buffer> = []
      const second = yield* servingAgent(world, T, [tunnelHost], (stream) => {
        stream.on("data", (chunk: Buffer) => said.push(chunk))
        const server = new TLSSocket(stream as unknown as Socket, {
          isServer: true,
          cert: origin.cert,
          key: origin.key
        })
        server.once("data", (data: Buffer) => server.end(`you said ${data.toString()}`))
      })
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, origin.root, tunnelHost))
      const heard = hear(visitor)
      visitor.end("hello")
      assert.strictEqual(yield* Effect.promise(() => heard), "you said hello")
      const bytes = Buffer.concat(said)
      assert.isTrue(bytes.subarray(0, dying.heard().length).equals(dying.heard()))
      assert.strictEqual(second.streams[0]?.header.client?.address, "127.0.0.1")
      assert.include(yield* settled(world), { relays: 1, failovers: 1, toAgents: bytes.length })
    }).pipe(Effect.scoped)
  )

  it.live("gives its visitor to the next slot when it is a slot", () =>
    Effect.gen(function* () {
      const world = yield* gelb()
      for (const role of ["B", "L", "F"] as const) {
        const [dying, next] = [
          yield* slotAgent(world, T, role, tunnelHost),
          yield* slotAgent(world, T, role, tunnelHost)
        ]
        const asked = yield* Effect.forkChild(ask(world))
        const streams = [dying, next].map(({ parked }) => Result.getOrThrow(parked).taken.then(Result.getOrThrow))
        const [first, second] = streams
        if (first === undefined || second === undefined) throw new Error("two slots")
        yield* Effect.promise(() => first.then((stream) => readUntil(stream, "\r\n\r\n")))
        dying.socket.destroy()
        const stream = yield* Effect.promise(() => second)
        yield* Effect.promise(() => readUntil(stream, "\r\n\r\n"))
        stream.end(answer(role))
        assert.strictEqual(yield* Fiber.join(asked), answer(role))
      }
      assert.include(yield* settled(world), { relays: 3, failovers: 3 })
      yield* Effect.promise(() =>
        eventually(async () => (await world.metrics())["ct_edge_connections"] === 0, "every connection is let go")
      )
    }).pipe(Effect.scoped)
  )

  it.live("is waited for when it is the only one, for the delivery wait", () =>
    Effect.gen(function* () {
      const world = yield* gelb({ CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "1500" })
      const dying = yield* dyingAgent(world, once("\r\n\r\n"))
      const asked = yield* Effect.forkChild(ask(world))
      yield* Effect.promise(() => eventually(() => dying.socket.destroyed, "the agent is gone"))
      yield* servingAgent(world, T, [tunnelHost], answering("returned").serve)
      assert.strictEqual(yield* Fiber.join(asked), answer("returned"))
    }).pipe(Effect.scoped)
  )

  it.live("leads to a 502 page when no agent replaces it", () =>
    Effect.gen(function* () {
      const world = yield* gelb({ CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "300" })
      yield* dyingAgent(world, once("\r\n\r\n"))
      const before = performance.now()
      assert.match(yield* ask(world), /^HTTP\/1.1 502 [^]*does not answer/)
      assert.isAtLeast(performance.now() - before, 250)
      assert.include(yield* settled(world), { relays: 1, failovers: 0 })
    }).pipe(Effect.scoped)
  )
})

describe("no other agent is tried", () => {
  /** What the visitor hears, and whether a second agent has been asked. */
  const struck = Effect.fn(function* (
    world: TestEdge,
    when: Parameters<typeof dyingAgent>[1],
    visit: Effect.Effect<string>
  ) {
    yield* dyingAgent(world, when)
    const second = yield* servingAgent(world, T, [tunnelHost], answering("second").serve)
    const heard = yield* visit
    assert.include(yield* settled(world), { relays: 1, failovers: 0 })
    assert.lengthOf(second.streams, 0)
    return heard
  })

  it.live("once the agent has sent a byte", () =>
    Effect.gen(function* () {
      const world = yield* gelb()
      const half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
      const speaks = (_: Buffer, stream: CarrierStream) =>
        new Promise<boolean>((resolve) => void stream.write(half, () => setImmediate(resolve, true)))
      assert.include(["", half], yield* struck(world, speaks, ask(world)))
    }).pipe(Effect.scoped)
  )

  for (const [what, request, seen] of [
    [
      "a request that changes something",
      `POST / HTTP/1.1\r\nHost: ${tunnelHost}\r\nContent-Length: 0\r\n\r\n`,
      "\r\n\r\n"
    ],
    ["a request with a body", `GET / HTTP/1.1\r\nHost: ${tunnelHost}\r\nContent-Length: 4\r\n\r\nbody`, "body"],
    ["a second request behind the first", `${get}${get}`, `\r\n\r\nGET`]
  ] as const) {
    it.live(`for ${what}`, () =>
      Effect.gen(function* () {
        const world = yield* gelb()
        assert.match(yield* struck(world, once(seen), ask(world, request)), /^HTTP\/1.1 502 [^]*does not answer/)
      }).pipe(Effect.scoped)
    )
  }

  it.live("for what is not HTTP", () =>
    Effect.gen(function* () {
      const world = yield* gelb()
      assert.strictEqual(yield* struck(world, atOnce, ask(world, "\x00raw")), "")
    }).pipe(Effect.scoped)
  )

  const passthrough = (world: TestEdge, bytes: Buffer) =>
    Effect.promise(() => {
      const visitor = dial(world)
      visitor.write(bytes)
      return hear(visitor).finally(() => visitor.destroy())
    })

  it.live("where the visitor may send early data", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const hello = withExtension(yield* Effect.promise(() => helloFor(tunnelHost)), earlyData)
      assert.strictEqual(yield* struck(world, after(hello.length), passthrough(world, hello)), "")
    }).pipe(Effect.scoped)
  )

  it.live("where the visitor has sent more than the replay buffer holds", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const flight = Buffer.concat([yield* Effect.promise(() => helloFor(tunnelHost)), Buffer.alloc(64 * 1024, 0x16)])
      assert.strictEqual(yield* struck(world, after(flight.length), passthrough(world, flight)), "")
    }).pipe(Effect.scoped)
  )

  it.live("when the origin ends without an answer", () =>
    Effect.gen(function* () {
      const world = yield* gelb()
      yield* servingAgent(
        world,
        T,
        [tunnelHost],
        (stream) => void readUntil(stream, "\r\n\r\n").then(() => stream.end())
      )
      const second = yield* servingAgent(world, T, [tunnelHost], answering("second").serve)
      assert.match(yield* ask(world), /^HTTP\/1.1 502 [^]*does not answer/)
      assert.lengthOf(second.streams, 0)
    }).pipe(Effect.scoped)
  )
})

describe("agents whose origin is down", () => {
  const refusing = (stream: CarrierStream) =>
    void readUntil(stream, "\r\n\r\n").then(() => stream.reset("origin-unreachable"))

  it.live("are tried once each, three at most", () =>
    Effect.gen(function* () {
      const world = yield* gelb()
      const agents = [yield* servingAgent(world, T, [tunnelHost], refusing)]
      const before = performance.now()
      assert.match(yield* ask(world), /^HTTP\/1.1 502 /)
      assert.isBelow(performance.now() - before, onThisMachine(2_000))
      assert.strictEqual(agents[0]?.streams.length, 1)
      for (let count = 0; count < 4; count++) agents.push(yield* servingAgent(world, T, [tunnelHost], refusing))
      assert.match(yield* ask(world), /^HTTP\/1.1 502 /)
      assert.deepStrictEqual(agents.map(({ streams }) => streams.length).toSorted(), [0, 0, 1, 1, 2])
      assert.include(yield* settled(world), { relays: 2, failovers: 2 })
    }).pipe(Effect.scoped)
  )
})

describe("a relay is cut", () => {
  const isCut = Effect.fn(function* (world: TestEdge, heard: Promise<string>) {
    const before = performance.now()
    assert.strictEqual((yield* Effect.promise(() => world.admin("POST", `/admin/revoke/${T}`))).status, 200)
    assert.strictEqual(yield* Effect.promise(() => heard), "")
    assert.isBelow(performance.now() - before, onThisMachine(1_500))
    assert.strictEqual((yield* settled(world)).active, 0)
    assert.strictEqual((yield* Effect.promise(() => world.metrics()))["ct_edge_relays_cut_total"], 1)
  })

  const visitOf = Effect.fn(function* (world: TestEdge) {
    const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
    const heard = hear(visitor)
    visitor.write(get)
    return heard
  })

  it.live("by revocation while the second agent is tried", () =>
    Effect.gen(function* () {
      const world = yield* gelb()
      yield* dyingAgent(world, once("\r\n\r\n"))
      const second = yield* servingAgent(world, T, [tunnelHost], (stream) => void stream.resume())
      const visit = yield* visitOf(world)
      yield* Effect.promise(() => eventually(() => second.streams.length === 1, "the second agent is asked"))
      yield* isCut(world, visit)
      yield* Effect.promise(() => eventually(() => second.streams[0]?.destroyed === true, "its stream is cut"))
      assert.strictEqual(second.streams[0]?.resetBy?.code, "revoked")
    }).pipe(Effect.scoped)
  )

  it.live("by revocation while an agent is waited for", () =>
    Effect.gen(function* () {
      const world = yield* gelb({ CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "20000" })
      const dying = yield* dyingAgent(world, once("\r\n\r\n"))
      const visit = yield* visitOf(world)
      yield* Effect.promise(() => eventually(() => dying.socket.destroyed, "the agent is gone"))
      yield* isCut(world, visit)
    }).pipe(Effect.scoped)
  )

  it.live("when no byte passes for CT_EDGE_RELAY_IDLE_SECS", () =>
    Effect.gen(function* () {
      const world = yield* gelb({ CT_EDGE_RELAY_IDLE_SECS: "1" })
      const agent = yield* muxAgent(world, (stream) => void stream.resume())
      yield* Effect.promise(() => agent.register(T, [tunnelHost]))
      assert.match(yield* ask(world), /^HTTP\/1.1 502 [^]*does not answer/)
      yield* Effect.promise(() => eventually(() => agent.streams[0]?.destroyed === true, "its stream is cut"))
      assert.strictEqual(agent.streams[0]?.resetBy?.code, "idle")
    }).pipe(Effect.scoped)
  )
})
