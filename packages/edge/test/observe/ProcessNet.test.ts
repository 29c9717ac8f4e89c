/** What reaches the event loop belongs to no connection: it is counted and logged, and the other visitors go on. */
import { readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { ConnectionFaults } from "../../src/observe/ConnectionFaults.ts"
import { Counters } from "../../src/observe/Counters.ts"

const T = token("1")
const tunnelHost = "app.zone.test"

/** Takes the listeners of the test runner away, which end a run at the first throw; what starts later adds its own. */
const unwatched = Effect.acquireRelease(
  Effect.sync(() =>
    (["uncaughtException", "unhandledRejection"] as const).map((event) => {
      const listeners = process.listeners(event as "uncaughtException")
      process.removeAllListeners(event)
      return { event, listeners }
    })
  ),
  (taken) =>
    Effect.sync(() => {
      for (const { event, listeners } of taken) for (const listener of listeners) process.on(event, listener)
    })
)

/** A throw and a rejection that no connection can be blamed for. */
const fail = (times: number) =>
  Effect.promise(async () => {
    for (let n = 0; n < times; n++) {
      setTimeout(() => {
        throw new Error("injected into a timer")
      }, 0)
      void Promise.reject(new Error("injected into a promise"))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })

describe("a throw that reaches the event loop of an edge", () => {
  it.live("is counted, and connected visitors stay connected", () =>
    Effect.gen(function* () {
      yield* unwatched
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        stream.on("data", () => stream.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"))
      })
      const visitor = yield* Effect.acquireRelease(
        Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost, ["http/1.1"])),
        (socket) => Effect.sync(() => socket.destroy())
      )
      const asks = Effect.promise(async () => {
        const answer = readUntil(visitor, "\r\n\r\nhi")
        visitor.write(`GET / HTTP/1.1\r\nHost: ${tunnelHost}\r\n\r\n`)
        await answer
        visitor.pause()
      })
      yield* asks
      yield* fail(3)
      yield* asks
      const counted = async () => (await world.metrics())["ct_edge_connection_faults_total"] === 6
      yield* Effect.promise(() => eventually(counted, "six counted faults"))
    }).pipe(Effect.scoped)
  )

  it.live("is logged once in a minute, with its stack", () => {
    const lines: Array<string> = []
    const logger = Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))
    return Effect.gen(function* () {
      yield* unwatched
      yield* Layer.build(ConnectionFaults.layerNoDeps.pipe(Layer.provide(Counters.layer)))
      yield* fail(3)
      assert.lengthOf(lines, 1)
      assert.include(lines[0], "a callback of a connection failed")
      assert.match(lines[0] ?? "", /injected into a (?:timer|promise)[\s\S]*ProcessNet\.test\.ts/)
    }).pipe(Effect.scoped, Effect.provide(Logger.layer([logger])))
  })
})
