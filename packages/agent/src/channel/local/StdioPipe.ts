/** Joins a session with this process's stdin and stdout. The end of stdin ends the session, once the peer has ended too. */
import { countReads } from "@catenet/wire/transport/BufferMemory"
import { flushed } from "@catenet/wire/transport/Flushed"
import { Effect, Fiber } from "effect"
import type { Duplex } from "node:stream"
import { pipeline } from "node:stream/promises"
import { SessionTermination } from "../session/SessionTermination.ts"

/** How long the peer may take to end, after this side has. */
const drainMillis = 30_000

/**
 * Both directions, until both have ended. A person at a terminal does not end stdin, so there the peer's end is enough. The first
 * failure ends the other direction.
 */
export const join = Effect.fn("StdioPipe.join")(function* (stream: Duplex) {
  let lastReceived = 0
  const received = Effect.tryPromise({
    try: async (signal) => {
      const done = pipeline(stream, process.stdout, { end: false, signal })
      stream.on("data", (chunk: Uint8Array) => {
        lastReceived += chunk.length
      })
      countReads(stream)
      await done
      await flushed(process.stdout)
    },
    catch: SessionTermination.of
  })
  const sent = Effect.tryPromise({
    try: (signal) => {
      const done = pipeline(process.stdin, stream, { signal })
      countReads(process.stdin)
      return done
    },
    catch: SessionTermination.of
  })
  const silence = Effect.gen(function* () {
    let before = -1
    // A peer that has ended owes nothing more: only the reader of stdout is slow.
    while (stream.readableEnded || lastReceived !== before) {
      before = lastReceived
      yield* Effect.sleep(drainMillis)
    }
    return yield* new SessionTermination({ why: `the peer said nothing for ${drainMillis / 1000} s and did not end` })
  })
  const receiving = yield* Effect.forkScoped(received)
  const sending = Effect.andThen(sent, Effect.raceFirst(Fiber.join(receiving), silence))
  return yield* process.stdin.isTTY
    ? Effect.raceFirst(Fiber.join(receiving), sending)
    : Effect.all([Fiber.join(receiving), sending], { concurrency: "unbounded", discard: true })
})
