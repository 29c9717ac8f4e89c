/** Serves tools on one session: one request at a time, in order, until the peer ends or is silent for too long. */
import { Effect, Option } from "effect"
import type { Duplex } from "node:stream"
import * as Dispatch from "./Dispatch.ts"
import { FrameInbox, MessagesCut, send } from "./FrameInbox.ts"
import type { Caller, Tool } from "./Tool.ts"

/** Without a new request. */
const idle = "300 seconds"

const closed = (stream: Duplex) =>
  Effect.callback<never, MessagesCut>((resume) => {
    const over = () => resume(Effect.fail(new MessagesCut({ why: "the peer went away during a call" })))
    if (stream.destroyed) return over()
    stream.once("close", over)
    return Effect.sync(() => stream.off("close", over))
  })

const probePause = "1 second"

/**
 * A peer that has ended may wait for the answer, or be gone without having said so. An empty message, which no reader sees, finds it
 * out: where nothing takes it, the connection is cut.
 */
const probing = (stream: Duplex, probe: () => void) =>
  Effect.suspend(() => (stream.readableEnded ? Effect.sync(probe) : Effect.void)).pipe(
    Effect.delay(probePause),
    Effect.forever
  )

/** Succeeds when the session has ended in order. A tool is interrupted when the session breaks. */
export const serve = Effect.fn("RpcServer.serve")(function* (
  stream: Duplex,
  tools: ReadonlyArray<Tool>,
  caller: Caller,
  probe: () => void = () => {}
) {
  const inbox = new FrameInbox(stream)
  while (true) {
    const message = yield* Effect.timeoutOption(inbox.next, idle)
    if (Option.isNone(message) || message.value === undefined) return
    const response = yield* Effect.raceAllFirst([
      Dispatch.respond(message.value, tools, caller),
      closed(stream),
      probing(stream, probe)
    ])
    yield* send(stream, response)
  }
})
