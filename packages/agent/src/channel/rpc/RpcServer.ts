/**
 * Serves tools on a session until the peer ends or is silent for too long: requests in order, or concurrently if the peer asked
 * for it.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Json from "@catenet/crypto/Json"
import * as Permission from "@catenet/crypto/Permission"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Deferred, Effect, FiberSet, Option, Record, Result, Semaphore } from "effect"
import type { Duplex } from "node:stream"
import { MessageReader, MessagesCut, send } from "./MessageReader.ts"
import * as Notification from "./Notification.ts"
import * as RpcDispatch from "./RpcDispatch.ts"
import { type Caller, isObject, type JsonObject, type Tool } from "./Tool.ts"
import type { SessionCalls } from "./ToolCalls.ts"

/** Without a new request. */
const idle = "300 seconds"
/** How long a session must be silent before its place can be given to another. */
const idlePause = "10 seconds"

const probePause = "1 second"

/**
 * A peer that has ended its side may wait for the response or be dead. An empty message, which no reader sees, finds out: if
 * nothing accepts it, the connection is cut.
 */
const probing = (stream: Duplex, probe: () => void) =>
  Effect.suspend(() => (stream.readableEnded ? Effect.sync(probe) : Effect.void)).pipe(
    Effect.delay(probePause),
    Effect.forever
  )

/** The caller's progress token, if it wants progress. */
const progressTokenOf = ({ params }: Envelope.Request): Json.Json | undefined => {
  const member = (value: Json.Json | undefined, name: string) =>
    isObject(value) ? Option.getOrUndefined(Record.get(value, name)) : undefined
  return member(member(params, "_meta"), "progressToken")
}

/** Identifies a running request. */
const keyOf = (id: Json.Json) => Json.write(id)

export interface ServeOptions {
  /** The tools as they are at each request. */
  readonly tools: () => ReadonlyArray<Tool>
  readonly caller: Caller
  /** Watches the calls. */
  readonly calls?: SessionCalls
  /** Calls the listener when the tools change, until the returned function is called. */
  readonly onToolsChanged?: (listener: () => void) => () => void
  /** Sends an empty message, which readers ignore. */
  readonly probe?: () => void
  /** The session is kept even without requests. */
  readonly isStanding?: boolean
  /** Whether another peer may be waiting for the place of this session. If not, an idle session that receives notifications is kept. */
  readonly isWanted?: () => boolean
  /** Called when a request begins and when it has been answered. */
  readonly working?: (isWorking: boolean) => void
  /** Runs before the first request, unless `inFrames` takes the session over. */
  readonly prepare?: Effect.Effect<void>
  /** Takes the session over from a caller that speaks in frames. */
  readonly inFrames?: (stream: Duplex) => Effect.Effect<void>
}

/** The serving side of a session. */
interface Serving extends Required<Omit<ServeOptions, "calls" | "inFrames">> {
  readonly calls: ServeOptions["calls"] | undefined
  readonly inFrames: ServeOptions["inFrames"] | undefined
  readonly stream: Duplex
  /** How to cancel the requests that run. */
  readonly running: Map<string, Deferred.Deferred<void>>
  /** Fails when the peer has gone. */
  readonly gone: Deferred.Deferred<never, MessagesCut>
  readonly writing: Semaphore.Semaphore
  /** The peer has asked for notifications and concurrent requests. */
  isConcurrent: boolean
}

/** Whether a message was a cancellation, which is no request. */
const cancels = ({ isConcurrent, running }: Serving, message: Uint8Array) => {
  if (running.size === 0 && !isConcurrent) return false
  const params = Notification.read(message, Notification.cancelled)
  const asked = params === undefined ? undefined : Option.getOrUndefined(Record.get(params, "requestId"))
  const cancel = asked === undefined ? undefined : running.get(keyOf(asked))
  if (cancel !== undefined) Deferred.doneUnsafe(cancel, Effect.void)
  // The request may just have been answered.
  return cancel !== undefined || (isConcurrent && asked !== undefined)
}

const write = ({ isConcurrent, stream, writing }: Serving, message: Uint8Array) =>
  isConcurrent ? writing.withPermits(1)(send(stream, message)) : send(stream, message)

/** Reports the progress of a request, if its caller wants it. */
const reporting = (serving: Serving, request: Envelope.Request) => {
  const progressToken = progressTokenOf(request)
  if (progressToken === undefined) return undefined
  return (progress: JsonObject) => {
    const message = Bytes.fromText(Notification.write(Notification.progress, { ...progress, progressToken }))
    // A peer that does not read misses progress, not answers.
    if (message.length <= Envelope.maxMessage && !serving.stream.writableNeedDrain)
      Effect.runFork(Effect.ignore(write(serving, message)))
  }
}

const answer = Effect.fnUntraced(function* (serving: Serving, read: ReturnType<typeof Envelope.readRequest>) {
  const { caller, calls, gone, probe, running, stream, tools, working } = serving
  const id = Result.isSuccess(read) ? read.success.id : null
  const key = keyOf(id)
  const cancel = yield* Deferred.make<void>()
  running.set(key, cancel)
  working(true)
  const report = Result.isSuccess(read) ? reporting(serving, read.success) : undefined
  const response = yield* Effect.raceAllFirst([
    RpcDispatch.respond(read, tools(), caller, report, calls),
    Effect.as(Deferred.await(cancel), RpcDispatch.cancelled(id)),
    Deferred.await(gone),
    probing(stream, probe)
  ]).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        if (running.get(key) === cancel) running.delete(key)
        working(false)
      })
    )
  )
  yield* write(serving, response)
})

const beginConcurrency = Effect.fnUntraced(function* (serving: Serving) {
  serving.isConcurrent = true
  if (!Permission.mayRead(serving.caller.rights)) return
  const changed = Bytes.fromText(Notification.write(Notification.toolsChanged))
  const leave = serving.onToolsChanged(() => void Effect.runFork(Effect.ignore(write(serving, changed))))
  yield* Effect.addFinalizer(() => Effect.sync(leave))
})

/** Reads requests until the peer ends or is silent for too long. */
const answerAll = Effect.fnUntraced(function* (serving: Serving, inbox: MessageReader) {
  const { gone, isStanding, isWanted, running } = serving
  const places = yield* Semaphore.make(Notification.maxAtOnce)
  const calls = yield* FiberSet.make<void, MessagesCut>()
  let patience: typeof idle | typeof idlePause = idle
  let isPrepared = false
  while (true) {
    const message = yield* isStanding ? Effect.map(inbox.next, Option.some) : Effect.timeoutOption(inbox.next, patience)
    if (Option.isNone(message)) {
      if (running.size === 0 && (!serving.isConcurrent || isWanted())) return undefined
      patience = running.size === 0 ? idlePause : idle
      continue
    }
    patience = idle
    if (message.value === undefined) break
    const read = Envelope.readRequest(message.value)
    if (Result.isSuccess(read) && wantsFrames(serving, read.success)) {
      // Before the answer, because the caller's next byte is in a frame.
      if (!inbox.release()) return undefined
      yield* write(serving, RpcDispatch.framed(read.success.id))
      return serving.inFrames
    }
    if (!isPrepared) yield* Effect.raceFirst(serving.prepare, Deferred.await(gone))
    isPrepared = true
    if (serving.isConcurrent) {
      yield* places.take(1)
      yield* FiberSet.run(calls, Effect.ensuring(answer(serving, read), places.release(1)))
      continue
    }
    yield* answer(serving, read)
    if (Result.isSuccess(read) && Notification.isAskedBy(read.success)) yield* beginConcurrency(serving)
  }
  yield* Effect.raceFirst(Deferred.await(gone), FiberSet.awaitEmpty(calls))
  return undefined
})

/** Frames show the caller what its tools do, so it needs the right to read. */
const wantsFrames = ({ caller, inFrames, isConcurrent }: Serving, { method, params }: Envelope.Request) =>
  inFrames !== undefined &&
  !isConcurrent &&
  method === "initialize" &&
  Notification.hasFrames(params) &&
  Permission.mayRead(caller.rights)

/** Succeeds when the session has ended in order. A tool is interrupted when the session breaks or the caller cancels. */
export const serve = Effect.fn("RpcServer.serve")(function* (stream: Duplex, options: ServeOptions) {
  const serving: Serving = {
    isStanding: false,
    isWanted: () => true,
    onToolsChanged: () => () => {},
    probe: () => {},
    working: () => {},
    prepare: Effect.void,
    calls: undefined,
    inFrames: undefined,
    ...options,
    stream,
    running: new Map(),
    gone: yield* Deferred.make<never, MessagesCut>(),
    writing: yield* Semaphore.make(1),
    isConcurrent: false
  }
  const inbox = new MessageReader(stream, (message) => cancels(serving, message))
  const isGone = () =>
    void Deferred.doneUnsafe(serving.gone, Effect.fail(new MessagesCut({ why: "the peer went away during a call" })))
  if (stream.destroyed) isGone()
  stream.once("close", isGone)
  yield* Effect.addFinalizer(() => Effect.sync(() => stream.off("close", isGone)))
  const inFrames = yield* answerAll(serving, inbox)
  if (inFrames !== undefined) yield* inFrames(stream)
}, Effect.scoped)
