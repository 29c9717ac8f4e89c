/** Moves the bytes and the time of a `JoinExchange` on a connected stream. */
import type { Acknowledgement } from "@catenet/crypto/admission/Acknowledgement"
import { native } from "@catenet/crypto/native"
import { Clock, Effect, Latch } from "effect"
import type { Duplex } from "node:stream"
import { type Failure, JoinExchange, type Options, type Step } from "./JoinExchange.ts"

/** The acknowledgement. The stream is left paused, with the first byte behind the acknowledgement as its next. */
export const join = Effect.fn("JoinOnStream.join")(function* (
  stream: Duplex,
  options: Omit<Options, "now">,
  /** The proof is sent: from here on this member waits for its peer. */
  proved: () => void
) {
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const exchange = new JoinExchange(native, { ...options, now: now() })
  /** Until when the time is waited for. Words of the edge may bring that forward. */
  let dueAt = exchange.dueAt
  const sooner = Latch.makeUnsafe()

  const settled = Effect.callback<Acknowledgement, Failure>((resume) => {
    const take = (step: Step) => {
      if (step._tag === "Send") {
        proved()
        return void stream.write(step.bytes)
      }
      if (step._tag === "Wait") return
      cleanup()
      if (step._tag === "Failed") return resume(Effect.fail(step.error))
      if (step.rest.length > 0) stream.unshift(Buffer.from(step.rest))
      resume(Effect.succeed(step.acknowledgement))
    }
    const data = (chunk: Uint8Array) => {
      take(exchange.receive(chunk, now()))
      if (exchange.dueAt < dueAt) sooner.openUnsafe()
    }
    const ended = () => take(exchange.ended(now()))
    const cleanup = () => {
      stream.off("data", data)
      for (const event of ["end", "close", "error"]) stream.off(event, ended)
      stream.pause()
    }
    stream.on("data", data)
    for (const event of ["end", "close", "error"]) stream.on(event, ended)
    stream.write(exchange.opening)
    stream.resume()
    return Effect.sync(cleanup)
  })

  const late = Effect.gen(function* () {
    while (true) {
      const step = exchange.elapsed(now())
      if (step._tag === "Failed") return yield* Effect.fail(step.error)
      dueAt = exchange.dueAt
      sooner.closeUnsafe()
      yield* Effect.raceFirst(Effect.sleep(Math.max(1, dueAt - now())), sooner.await)
    }
  })
  return yield* Effect.raceFirst(settled, late)
})
