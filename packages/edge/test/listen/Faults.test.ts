/** A fault is put into one callback of each kind; it must end what it belongs to and nothing else. */
import { muxAgent, readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { ClientHelloReader } from "@catenet/wire/frames/ClientHello"
import { ResponseTracker } from "@catenet/wire/http/ResponseTracker"
import { FrameReader } from "@catenet/wire/transport/FrameReader"
import { MuxStream } from "@catenet/wire/transport/MuxStream"
import { PeerRegistrations } from "@catenet/wire/transport/Registrations"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, type Scope } from "effect"
import { once } from "node:events"
import { createServer, connect as http2, type ServerHttp2Stream } from "node:http2"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import { RequestRewriter } from "../../../proxy/src/http1/RequestRewriter.ts"
import { AgentPool } from "../../src/sessions/AgentPool.ts"

const T = token("1")
const tunnelHost = "app.zone.test"
const okResponse = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
const plainRequest = `GET / HTTP/1.1\r\nHost: ${tunnelHost}\r\n\r\n`

/** The next call that the predicate holds for throws; every other one is as it was. */
const failOnce = (owner: object, method: string, applies: (args: ReadonlyArray<unknown>) => boolean = () => true) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const original: unknown = Reflect.get(owner, method)
      let left = 1
      Object.defineProperty(owner, method, {
        configurable: true,
        writable: true,
        value: function (this: unknown, ...args: ReadonlyArray<unknown>) {
          if (left > 0 && applies(args)) {
            left -= 1
            throw new Error(`injected into ${method}`)
          }
          return Reflect.apply(original as (...args: ReadonlyArray<unknown>) => unknown, this, args)
        }
      })
      return original
    }),
    (original) => Effect.sync(() => Object.defineProperty(owner, method, { value: original }))
  )

const faults = async (world: TestEdge) => (await world.metrics())["ct_edge_connection_faults_total"] ?? 0

const visitor = (world: TestEdge, alpn: ReadonlyArray<string> = ["http/1.1"]) =>
  Effect.acquireRelease(
    Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost, alpn)),
    (socket) => Effect.sync(() => socket.destroy())
  )

const asks = (socket: Effect.Success<ReturnType<typeof visitor>>) =>
  Effect.promise(async () => {
    const answer = readUntil(socket, "\r\n\r\nhi")
    socket.write(plainRequest)
    await answer
    socket.pause()
  })

const closed = (socket: Duplex) =>
  Effect.promise(() => eventually(() => socket.destroyed || socket.readableEnded, "the faulty connection ends"))

const http1 = (world: TestEdge) =>
  Effect.gen(function* () {
    const socket = yield* visitor(world)
    socket.resume().write(plainRequest)
    yield* closed(socket)
  })

const overHttp2 = (world: TestEdge) =>
  Effect.gen(function* () {
    const socket = yield* visitor(world, ["h2"])
    return yield* Effect.acquireRelease(
      Effect.sync(() =>
        http2(`https://${tunnelHost}`, { createConnection: () => socket }).on("error", () => undefined)
      ),
      (session) => Effect.sync(() => session.destroy())
    )
  })

/** Whether the stream broke, and whether its session still serves. */
const requestOn = (session: Effect.Success<ReturnType<typeof overHttp2>>) =>
  Effect.promise(
    () =>
      new Promise<number | undefined>((resolve) => {
        let status: number | undefined
        const stream = session.request({ ":path": "/", ":authority": tunnelHost }).resume()
        stream.on("response", (headers) => {
          status = headers[":status"]
        })
        stream.on("error", () => undefined)
        stream.on("close", () => resolve(status))
      })
  )

const serve = (stream: Duplex) => {
  stream.on("data", () => stream.write(okResponse))
}

const prototypeOf = (of: object): object => Object.getPrototypeOf(of)

/** What all streams of HTTP/2 servers in this process inherit from. */
const serverStreams = Effect.promise(async () => {
  const server = createServer().listen(0, "127.0.0.1")
  const { promise, resolve } = Promise.withResolvers<object>()
  server.on("stream", (stream: ServerHttp2Stream) => {
    resolve(prototypeOf(stream))
    stream.respond({ ":status": 200 }, { endStream: true })
  })
  await once(server, "listening")
  const session = http2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  session.request({ ":path": "/" }).resume()
  const prototype = await promise
  session.close()
  server.close()
  return prototype
})

type Case = readonly [kind: string, act: (world: TestEdge) => Effect.Effect<void, never, Scope.Scope>]

const cases: ReadonlyArray<Case> = [
  [
    "a socket's first bytes",
    Effect.fnUntraced(function* (world) {
      yield* failOnce(ClientHelloReader.prototype, "push")
      yield* Effect.ignore(Effect.tryPromise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)))
    })
  ],
  [
    "the end of a TLS handshake",
    Effect.fnUntraced(function* (world) {
      const session = yield* overHttp2(world)
      assert.strictEqual(yield* requestOn(session), 200)
      yield* failOnce(prototypeOf(prototypeOf(session)), "setLocalWindowSize")
      yield* closed((yield* visitor(world, ["h2"])).resume())
      assert.strictEqual(yield* requestOn(session), 200)
    })
  ],
  [
    "a visitor's data",
    Effect.fnUntraced(function* (world) {
      yield* failOnce(RequestRewriter.prototype, "push")
      yield* http1(world)
    })
  ],
  [
    "a stream of an agent, whose session goes on",
    Effect.fnUntraced(function* (world) {
      yield* failOnce(ResponseTracker.prototype, "push")
      yield* http1(world)
    })
  ],
  [
    "a frame of an agent's session",
    Effect.fnUntraced(function* (world) {
      yield* failOnce(PeerRegistrations.prototype, "receive")
      const agent = yield* muxAgent(world)
      assert.isTrue(Result.isFailure(yield* Effect.promise(() => agent.register(T, [tunnelHost]))))
      yield* closed(agent.socket)
    })
  ],
  [
    "the judgement of a registration, which is refused",
    Effect.fnUntraced(function* (world) {
      yield* failOnce(AgentPool.prototype, "addMux")
      const agent = yield* muxAgent(world, serve)
      const first = yield* Effect.promise(() => agent.register(T, [tunnelHost]))
      if (Result.isFailure(first)) throw new Error("the refusal comes after the answer")
      assert.strictEqual((yield* Effect.promise(() => first.success.ended)).code, "internal")
      assert.isTrue(Result.isSuccess(yield* Effect.promise(() => agent.register(T, [tunnelHost]))))
    })
  ],
  [
    "an HTTP/2 stream's beginning, whose session goes on",
    Effect.fnUntraced(function* (world) {
      const session = yield* overHttp2(world)
      yield* failOnce(yield* serverStreams, "once", ([event]) => event === "close")
      assert.isUndefined(yield* requestOn(session))
      assert.strictEqual(yield* requestOn(session), 200)
    })
  ],
  [
    "an answer's arrival for an HTTP/2 stream",
    Effect.fnUntraced(function* (world) {
      const session = yield* overHttp2(world)
      const streams = yield* serverStreams
      // `respond` is guarded on its own; what the answer is then read into is not.
      yield* failOnce(streams, "once", ([event]) => event === "unpipe")
      yield* failOnce(streams, "on", ([event]) => event === "unpipe")
      assert.notStrictEqual(yield* requestOn(session), undefined)
      assert.strictEqual(yield* requestOn(session), 200)
    })
  ],
  [
    "a timer of a relay",
    Effect.fnUntraced(function* (world) {
      yield* failOnce(MuxStream.prototype, "reset", ([code]) => code === "idle")
      const socket = yield* visitor(world)
      yield* asks(socket)
      yield* closed(socket.resume())
    })
  ],
  [
    "what a promise leads to",
    Effect.fnUntraced(function* (world) {
      yield* failOnce(FrameReader.prototype, "release")
      const socket = yield* Effect.promise(() => tlsTo(world.mesh, world.meshRoot, "localhost"))
      socket.resume().write("A".padEnd(40, "x"))
      yield* closed(socket)
    })
  ]
]

describe("an error in a callback ends only its own connection:", () => {
  it.live.each(cases)("%s", ([kind, act]) =>
    Effect.gen(function* () {
      const cutsIdle = kind === "a timer of a relay"
      const world = yield* start(cutsIdle ? { CT_EDGE_RELAY_IDLE_SECS: "1" } : {})
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const agent = yield* servingAgent(world, T, [tunnelHost], serve)
      const bystander = yield* visitor(world)
      yield* asks(bystander)
      const before = yield* Effect.promise(() => faults(world))
      yield* act(world)
      yield* Effect.promise(() => eventually(async () => (await faults(world)) === before + 1, "the fault is counted"))
      assert.isFalse(agent.socket.destroyed)
      if (!cutsIdle) yield* asks(bystander)
      yield* asks(yield* visitor(world))
    }).pipe(Effect.scoped)
  )
})
