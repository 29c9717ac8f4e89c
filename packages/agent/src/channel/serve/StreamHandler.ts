/**
 * Connects a session to one command: the peer's bytes are its stdin, its stdout goes to the peer. The command and its children
 * end with the session.
 */
import { abort } from "@catenet/wire/transport/Abort"
import { countReads } from "@catenet/wire/transport/BufferMemory"
import { Effect } from "effect"
import type { Duplex } from "node:stream"
import { pipeline } from "node:stream/promises"
import { SessionTermination } from "../session/ChannelFailure.ts"
import * as HandlerProcess from "./HandlerProcess.ts"

/** Until the command has ended and its output has been sent, or the session has dropped. */
export const join = Effect.fn("StreamHandler.join")(
  function* (stream: Duplex, command: HandlerProcess.Command) {
    const child = yield* Effect.mapError(HandlerProcess.start(command), SessionTermination.of)
    child.stderr.pipe(process.stderr, { end: false })
    const received = Effect.tryPromise({
      try: (signal) => {
        const done = pipeline(child.stdout, stream, { signal })
        countReads(child.stdout)
        return done
      },
      catch: SessionTermination.of
    })
    const dropped = Effect.callback<never, SessionTermination>((resume) => {
      const over = () => {
        if (!stream.writableFinished || !stream.readableEnded)
          resume(Effect.fail(SessionTermination.of(stream.errored ?? "the peer went away")))
      }
      stream.once("close", over)
      return Effect.sync(() => stream.off("close", over))
    })
    // Not `pipeline`, which would end the session when the command stops reading: it may still write.
    stream.pipe(child.stdin)
    countReads(stream)
    child.stdin.once("close", () => stream.resume())
    yield* Effect.raceFirst(received, dropped)
  },
  Effect.scoped,
  (joining, stream) => Effect.onError(joining, () => Effect.sync(() => abort(stream)))
)
