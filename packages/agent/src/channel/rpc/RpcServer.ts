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
  /** Calls the listener when the tools change, until the returned function is called. */
  readonly onToolsChanged?: (listener: () => void) => () => void
  /** Sends something that no reader sees. */
  readonly probe?: () => void
  /** The session is kept even without requests. */
  readonly isStanding?: boolean
  /** Whether another peer may be waiting for the place of this session. If not, an idle session that receives notifications is kept. */
  readonly isWanted?: () => boolean
  /** Called when a request begins and when it has been answered. */
  readonly working?: (isWorking: boolean) => void
}

/** Succeeds when the session has ended in order. A tool is interrupted when the session breaks or the caller cancels. */
export const serve = Effect.fn("RpcServer.serve")(function* (
  stream: Duplex,
  {
    caller,
    isStanding = false,
    isWanted = () => true,
    onToolsChanged = () => () => {},
    probe = () => {},
    tools,
    working = () => {}
  }: ServeOptions
) {
  /** How to cancel the requests that run. */
  const running = new Map<string, Deferred.Deferred<void>>()
  let isConcurrent = false
  const inbox = new MessageReader(stream, (message) => {
    if (running.size === 0 && !isConcurrent) return false
    const params = Notification.read(message, Notification.cancelled)
    const asked = params === undefined ? undefined : Option.getOrUndefined(Record.get(params, "requestId"))
    const cancel = asked === undefined ? undefined : running.get(keyOf(asked))
    if (cancel !== undefined) Deferred.doneUnsafe(cancel, Effect.void)
    // Of several, this one may just have been answered.
    return cancel !== undefined || (isConcurrent && asked !== undefined)
  })

  const gone = yield* Deferred.make<never, MessagesCut>()
  const isGone = () =>
    void Deferred.doneUnsafe(gone, Effect.fail(new MessagesCut({ why: "the peer went away during a call" })))
  if (stream.destroyed) isGone()
  stream.once("close", isGone)
  yield* Effect.addFinalizer(() => Effect.sync(() => stream.off("close", isGone)))

  const line = yield* Semaphore.make(1)
  const say = (message: Uint8Array) => line.withPermits(1)(send(stream, message))

  const reporting = (request: Envelope.Request) => {
    const progressToken = progressTokenOf(request)
    if (progressToken === undefined) return undefined
    return (progress: JsonObject) => {
      const message = Bytes.fromText(Notification.write(Notification.progress, { ...progress, progressToken }))
      // A peer that does not read misses progress, not answers.
      if (message.length <= Envelope.maxMessage && !stream.writableNeedDrain)
        Effect.runFork(Effect.ignore(say(message)))
    }
  }

  const answer = Effect.fnUntraced(function* (read: ReturnType<typeof Envelope.readRequest>) {
    const id = Result.isSuccess(read) ? read.success.id : null
    const key = keyOf(id)
    const cancel = yield* Deferred.make<void>()
    running.set(key, cancel)
    working(true)
    const report = Result.isSuccess(read) ? reporting(read.success) : undefined
    const response = yield* Effect.raceAllFirst([
      RpcDispatch.respond(read, tools(), caller, report),
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
    yield* say(response)
  })

  const begin = Effect.gen(function* () {
    isConcurrent = true
    if (!Permission.mayRead(caller.rights)) return
    const changed = Bytes.fromText(Notification.write(Notification.toolsChanged))
    const leave = onToolsChanged(() => void Effect.runFork(Effect.ignore(say(changed))))
    yield* Effect.addFinalizer(() => Effect.sync(leave))
  })

  const places = yield* Semaphore.make(Notification.maxAtOnce)
  const calls = yield* FiberSet.make<void, MessagesCut>()
  let patience: typeof idle | typeof idlePause = idle
  while (true) {
    const message = yield* isStanding ? Effect.map(inbox.next, Option.some) : Effect.timeoutOption(inbox.next, patience)
    if (Option.isNone(message)) {
      if (running.size === 0 && (!isConcurrent || isWanted())) return
      patience = running.size === 0 ? idlePause : idle
      continue
    }
    patience = idle
    if (message.value === undefined) break
    const read = Envelope.readRequest(message.value)
    if (isConcurrent) {
      yield* places.take(1)
      yield* FiberSet.run(calls, Effect.ensuring(answer(read), places.release(1)))
      continue
    }
    yield* answer(read)
    if (Result.isSuccess(read) && Notification.isAskedBy(read.success)) yield* begin
  }
  yield* Effect.raceFirst(Deferred.await(gone), FiberSet.awaitEmpty(calls))
}, Effect.scoped)
