/** The streams being served: each in a fiber of its own, all of them known, so that a stopping agent can let them finish. */
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { Effect, FiberSet } from "effect"
import type { Duplex } from "node:stream"
import { Vitals } from "../observe/Vitals.ts"
import type { Handler } from "./Browser.ts"

export interface Streams {
  /** Serves a stream in the background. */
  serve(stream: Duplex, header: OpenHeader | undefined): void
  /** Waits until no stream is being served. */
  readonly idle: Effect.Effect<void>
}

/** Closing the scope ends every stream that is still being served. */
export const make = Effect.fnUntraced(function* (handler: Handler) {
  const vitals = yield* Vitals
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)<never>()
  return {
    serve: (stream, header) => {
      vitals.heard()
      vitals.taskBegan()
      run(Effect.ensuring(handler(stream, header), Effect.sync(vitals.taskEnded)))
    },
    idle: FiberSet.awaitEmpty(fibers)
  } satisfies Streams
})
