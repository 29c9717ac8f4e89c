/**
 * A program for the test beside it: an edge's listener in a process with few descriptors. It uses all of them up, says what
 * its health is, gives them back and says it again; one line of JSON each, then it waits for a line on its input.
 */
import { Effect, References } from "effect"
import { once } from "node:events"
import { closeSync, openSync } from "node:fs"
import * as ConnectionLimiter from "../../src/listen/ConnectionLimiter.ts"
import { ListenerHealth } from "../../src/listen/ListenerHealth.ts"
import * as TcpListener from "../../src/listen/TcpListener.ts"

const caps = {
  connections: 1_000,
  connectionsPerAddress: 1_000,
  connectionRatePerAddress: 0
}

/** Takes every descriptor there is. */
const hog = () => {
  const held: Array<number> = []
  try {
    for (;;) held.push(openSync("/dev/null", "r"))
  } catch {
    return held
  }
}

const rethrow = () => (error: unknown) => {
  throw error
}

const program = Effect.gen(function* () {
  const health = yield* ListenerHealth
  yield* health.expect(["front-door"])
  const listener = yield* TcpListener.listen({
    name: "front-door",
    variable: "CT_FRONT_DOOR",
    address: { host: "127.0.0.1", port: 0 },
    limiter: ConnectionLimiter.make(caps, undefined),
    onConnection: (socket) => void socket.end("served"),
    ending: rethrow
  })
  const say = Effect.fnUntraced(function* (what: string) {
    yield* health.check(listener)
    const stalled = yield* health.stalled
    process.stdout.write(
      `${JSON.stringify({ what, port: listener.address.port, stalled, cpu: process.cpuUsage().user })}\n`
    )
    yield* Effect.promise(() => once(process.stdin, "data"))
  })
  yield* say("up")
  const held = hog()
  yield* say("exhausted")
  yield* say("still exhausted")
  for (const descriptor of held) closeSync(descriptor)
  yield* say("recovered")
})

const quiet = Effect.provideService(References.MinimumLogLevel, "None")
await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(ListenerHealth.layer), quiet))
process.exit()
