/** The session between a local MCP server and its channel peer: opened when the peer is present, reopened when lost. */
import type * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Clock, Data, Deferred, Duration, Effect, Exit, Queue, Result } from "effect"
import type { Duplex } from "node:stream"
import * as RpcClient from "../rpc/RpcClient.ts"
import type { JsonObject } from "../rpc/Tool.ts"
import { RestartBackoff } from "../serve/RejoinBackoff.ts"

/** The peer was not reached, or it answered with an error that has a code. */
export class PeerFailed extends Data.TaggedError("PeerFailed")<{
  readonly reason: string
  readonly code: number | undefined
}> {
  override get message() {
    return this.reason
  }
}

/** Seconds for the peer to connect, and then to initialize. */
const patienceSeconds = 30
/** Milliseconds between sessions that are opened without a call. */
const pauses = { first: 1000, longest: 60_000, steady: 60_000 }
/** A session that has carried nothing for this many milliseconds may be ended by a peer that has no place for another one. */
const idleMillis = 300_000

const failed = (reason: string, code?: number) => new PeerFailed({ reason, code })

/** A session was opened, or the peer's tools have changed. */
export type News = "opened" | "changed"

export interface PeerConnection {
  readonly call: (
    method: string,
    params: Json.Json | undefined,
    report?: (progress: JsonObject) => void
  ) => Effect.Effect<Json.Json, PeerFailed>
  readonly news: Queue.Dequeue<News>
}

interface Session {
  readonly client: RpcClient.RpcClient
  readonly stream: Duplex
}

const isUsable = ({ stream }: Session) => !stream.destroyed && !stream.readableEnded

/** Whether the session has ended in order. */
const end = ({ stream }: Session) =>
  Effect.callback<boolean>((resume) => {
    const over = () => resume(Effect.succeed(stream.readableEnded))
    if (stream.destroyed || stream.readableEnded) return over()
    stream.once("end", over)
    stream.once("close", over)
    return Effect.sync(() => {
      stream.off("end", over)
      stream.off("close", over)
    })
  })

const within = <A, R>(opening: Effect.Effect<A, PeerFailed, R>, why: string) =>
  Effect.timeoutOrElse(opening, {
    duration: Duration.seconds(patienceSeconds),
    orElse: () => Effect.fail(failed(why))
  })

/** `open` waits for the peer and returns the stream of a new session, which lives until it ends or the scope closes. */
export const make = Effect.fn("PeerConnection.make")(function* <R>(
  open: Effect.Effect<Duplex, { readonly message: string }, R>
) {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<R>()
  const news = yield* Queue.sliding<News>(16)
  let current: Session | undefined
  let opening: Deferred.Deferred<Session, PeerFailed> | undefined
  let opened = Deferred.makeUnsafe<void>()
  /** When the session was opened, or the last call began. */
  let lastUse = 0

  const begin = Effect.gen(function* () {
    const stream = yield* Effect.mapError(open, ({ message }) => failed(message))
    const client = RpcClient.make(stream, () => void Queue.offerUnsafe(news, "changed"))
    yield* client.initialize.pipe(
      Effect.mapError(({ message }) => failed(message)),
      (initializing) => within(initializing, `The peer did not answer within ${patienceSeconds} s.`),
      Effect.onError(() => Effect.sync(() => stream.destroy()))
    )
    current = { client, stream }
    lastUse = yield* Clock.currentTimeMillis
    Queue.offerUnsafe(news, "opened")
    Deferred.doneUnsafe(opened, Effect.void)
    opened = Deferred.makeUnsafe()
    return current
  })

  /** The current session, or the one being opened. */
  const session: Effect.Effect<Session, PeerFailed, R> = Effect.suspend(() => {
    if (current !== undefined && isUsable(current)) return Effect.succeed(current)
    if (opening !== undefined) return Deferred.await(opening)
    const outcome = Deferred.makeUnsafe<Session, PeerFailed>()
    opening = outcome
    const run = begin.pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          opening = undefined
          Deferred.doneUnsafe(outcome, Exit.isSuccess(exit) ? Effect.succeed(exit.value) : Effect.failCause(exit.cause))
        })
      )
    )
    return Effect.andThen(Effect.forkIn(Effect.ignore(run), scope), Deferred.await(outcome))
  })

  let warned: string | undefined
  /** Once for each reason: the next attempts mostly fail for the same one. */
  const warn = (message: string) =>
    Effect.suspend(() => {
      if (message === warned) return Effect.void
      warned = message
      return Effect.logWarning(message)
    })

  const keep = Effect.gen(function* () {
    const pause = new RestartBackoff(pauses)
    while (true) {
      const lasting = session.pipe(
        Effect.flatMap(end),
        Effect.catch(({ message }) => Effect.as(warn(message), false))
      )
      const [took, inOrder] = yield* Effect.timed(lasting)
      const lasted = Duration.toMillis(took)
      const silent = (yield* Clock.currentTimeMillis) - lastUse
      if (current !== undefined && isUsable(current)) continue
      // The next call opens another session.
      if (inOrder && silent >= idleMillis) yield* Deferred.await(opened)
      else yield* Effect.sleep(pause.after(lasted))
    }
  })
  yield* Effect.forkScoped(keep)

  const link: PeerConnection = {
    news,
    call: Effect.fn("PeerConnection.call")(function* (method, params, report) {
      lastUse = yield* Clock.currentTimeMillis
      const { client } = yield* within(
        session,
        `The peer is not there: it did not come within ${patienceSeconds} s. Is it serving?`
      )
      const reply = yield* Effect.mapError(client.request(method, params, report), ({ message }) => failed(message))
      const result = Envelope.readResponse(reply)
      return Result.isSuccess(result) ? result.success : yield* failed(result.failure.reason, result.failure.code)
    }, Effect.provideContext(context))
  }
  return link
})
