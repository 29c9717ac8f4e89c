/** Serves tools on one session: one request at a time, in order, until the peer ends or is silent for too long. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Deferred, Effect, Option, Record, Result } from "effect"
import type { Duplex } from "node:stream"
import * as Dispatch from "./Dispatch.ts"
import { FrameInbox, MessagesCut, send } from "./FrameInbox.ts"
import * as Notification from "./Notification.ts"
import { type Caller, isObject, type JsonObject, type Tool } from "./Tool.ts"

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

/** What the caller wants its progress to be called, where it wants any. */
const progressTokenOf = ({ params }: Envelope.Request): Json.Json | undefined => {
  const member = (value: Json.Json | undefined, name: string) =>
    isObject(value) ? Option.getOrUndefined(Record.get(value, name)) : undefined
  return member(member(params, "_meta"), "progressToken")
}

export interface ServeOptions {
  /** The tools as they are at each request. */
  readonly tools: () => ReadonlyArray<Tool>
  readonly caller: Caller
  /** Sends something that no reader sees. */
  readonly probe?: () => void
  /** The session is kept although no request comes. */
  readonly isStanding?: boolean
  /** Is called when a request begins and when it has been answered. */
  readonly working?: (isWorking: boolean) => void
}

/** Succeeds when the session has ended in order. A tool is interrupted when the session breaks or the caller cancels. */
export const serve = Effect.fn("RpcServer.serve")(function* (
  stream: Duplex,
  { caller, isStanding = false, probe = () => {}, tools, working = () => {} }: ServeOptions
) {
  /** The request that is running, and how to cancel it. */
  let current: { readonly id: string; readonly cancel: Deferred.Deferred<void> } | undefined
  const inbox = new FrameInbox(stream, (message) => {
    if (current === undefined) return false
    const params = Notification.read(message, Notification.cancelled)
    const asked = params === undefined ? undefined : Option.getOrUndefined(Record.get(params, "requestId"))
    if (asked === undefined || Json.write(asked) !== current.id) return false
    Deferred.doneUnsafe(current.cancel, Effect.void)
    return true
  })

  const reporting = (request: Envelope.Request) => {
    const progressToken = progressTokenOf(request)
    if (progressToken === undefined) return undefined
    return (progress: JsonObject) => {
      const message = Bytes.fromText(Notification.write(Notification.progress, { ...progress, progressToken }))
      if (message.length <= Envelope.maxMessage) Effect.runFork(Effect.ignore(send(stream, message)))
    }
  }

  while (true) {
    const message = yield* isStanding ? Effect.map(inbox.next, Option.some) : Effect.timeoutOption(inbox.next, idle)
    if (Option.isNone(message) || message.value === undefined) return
    const read = Envelope.readRequest(message.value)
    const id = Result.isSuccess(read) ? read.success.id : null
    const cancel = yield* Deferred.make<void>()
    current = { id: Json.write(id), cancel }
    const report = Result.isSuccess(read) ? reporting(read.success) : undefined
    working(true)
    const response = yield* Effect.raceAllFirst([
      Dispatch.respond(read, tools(), caller, report),
      Effect.as(Deferred.await(cancel), Dispatch.cancelled(id)),
      closed(stream),
      probing(stream, probe)
    ])
    current = undefined
    working(false)
    yield* send(stream, response)
  }
})
