/** The session between a local MCP server and its channel peer: opened when the peer is present, reopened when lost. */
import type * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Clock, Data, Deferred, Duration, Effect, Exit, Queue, Result, type Scope } from "effect"
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

export interface Session {
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

/** What is known of the sessions. */
interface State<R> {
  readonly open: Effect.Effect<Duplex, { readonly message: string }, R>
  readonly scope: Scope.Scope
  readonly news: Queue.Queue<News>
  current: Session | undefined
  opening: Deferred.Deferred<Session, PeerFailed> | undefined
  /** Done when the next session is open. */
  opened: Deferred.Deferred<void>
  /** When the session was opened, or the last call began. */
  lastUse: number
  /** The reason why the last attempt failed. */
  warned: string | undefined
}

const begin = Effect.fnUntraced(function* <R>(state: State<R>) {
  const stream = yield* Effect.mapError(state.open, ({ message }) => failed(message))
  const client = RpcClient.make(stream, () => void Queue.offerUnsafe(state.news, "changed"))
  yield* client.initialize.pipe(
    Effect.mapError(({ message }) => failed(message)),
    (initializing) => within(initializing, `The peer did not answer within ${patienceSeconds} s.`),
    Effect.onError(() => Effect.sync(() => stream.destroy()))
  )
  const session: Session = { client, stream }
  state.current = session
  state.lastUse = yield* Clock.currentTimeMillis
  Queue.offerUnsafe(state.news, "opened")
  Deferred.doneUnsafe(state.opened, Effect.void)
  state.opened = Deferred.makeUnsafe()
  return session
})

/** The current session, or the one being opened. */
const sessionOf = <R>(state: State<R>): Effect.Effect<Session, PeerFailed, R> =>
  Effect.suspend(() => {
    if (state.current !== undefined && isUsable(state.current)) return Effect.succeed(state.current)
    if (state.opening !== undefined) return Deferred.await(state.opening)
    const outcome = Deferred.makeUnsafe<Session, PeerFailed>()
    state.opening = outcome
    const run = begin(state).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          state.opening = undefined
          Deferred.doneUnsafe(outcome, Exit.isSuccess(exit) ? Effect.succeed(exit.value) : Effect.failCause(exit.cause))
        })
      )
    )
    return Effect.andThen(Effect.forkIn(Effect.ignore(run), state.scope), Deferred.await(outcome))
  })

/** Once for each reason: the next attempts mostly fail for the same one. */
const warn = <R>(state: State<R>, message: string) =>
  Effect.suspend(() => {
    if (message === state.warned) return Effect.void
    state.warned = message
    return Effect.logWarning(message)
  })

/** Opens a session again and again. */
const keepOpen = Effect.fnUntraced(function* <R>(state: State<R>) {
  const pause = new RestartBackoff(pauses)
  while (true) {
    const lasting = sessionOf(state).pipe(
      Effect.flatMap(end),
      Effect.catch(({ message }) => Effect.as(warn(state, message), false))
    )
    const [took, inOrder] = yield* Effect.timed(lasting)
    const lasted = Duration.toMillis(took)
    const silent = (yield* Clock.currentTimeMillis) - state.lastUse
    if (state.current !== undefined && isUsable(state.current)) continue
    // The next call opens another session.
    if (inOrder && silent >= idleMillis) yield* Deferred.await(state.opened)
    else yield* Effect.sleep(pause.after(lasted))
  }
})

/** A session that is open and initialized already, and where its news go. */
export interface First {
  readonly session: Session
  readonly news: Queue.Queue<News>
}

/** `open` waits for the peer and returns the stream of a new session, which lives until it ends or the scope closes. */
export const make = Effect.fn("PeerConnection.make")(function* <R>(
  open: Effect.Effect<Duplex, { readonly message: string }, R>,
  first?: First
) {
  const context = yield* Effect.context<R>()
  const state: State<R> = {
    open,
    scope: yield* Effect.scope,
    news: first?.news ?? (yield* Queue.sliding<News>(16)),
    current: first?.session,
    opening: undefined,
    opened: Deferred.makeUnsafe<void>(),
    lastUse: first === undefined ? 0 : yield* Clock.currentTimeMillis,
    warned: undefined
  }
  yield* Effect.forkScoped(keepOpen(state))

  const link: PeerConnection = {
    news: state.news,
    call: Effect.fn("PeerConnection.call")(function* (method, params, report) {
      state.lastUse = yield* Clock.currentTimeMillis
      const { client } = yield* within(
        sessionOf(state),
        `The peer is not there: it did not come within ${patienceSeconds} s. Is it serving?`
      )
      const reply = yield* Effect.mapError(client.request(method, params, report), ({ message }) => failed(message))
      const result = Envelope.readResponse(reply)
      return Result.isSuccess(result) ? result.success : yield* failed(result.failure.reason, result.failure.code)
    }, Effect.provideContext(context))
  }
  return link
})
