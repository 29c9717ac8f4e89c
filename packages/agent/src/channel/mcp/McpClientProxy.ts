/**
 * A local MCP client on stdin and stdout whose server is behind a channel: every message passes both ways, as it is. The session is
 * opened at the client's first request. When it ends, requests that wait are answered with the reason, and another session begins with
 * the same `initialize`, log level and subscriptions. A peer that does not speak in frames, or is not there, is served by `McpFacade`.
 */
import type * as Json from "@catenet/crypto/Json"
import { Data, Deferred, Duration, Effect, FiberSet, Option, Queue, Schedule, type Scope } from "effect"
import type { Duplex, Readable, Writable } from "node:stream"
import * as Notification from "../rpc/Notification.ts"
import * as RpcClient from "../rpc/RpcClient.ts"
import { isObject, type JsonObject, textOf } from "../rpc/Tool.ts"
import { RestartBackoff } from "../serve/RejoinBackoff.ts"
import { ClientSession } from "./ClientSession.ts"
import * as McpFacade from "./McpFacade.ts"
import { memberOf, unanswered } from "./McpResult.ts"
import { idle } from "./McpServerProxy.ts"
import * as PeerConnection from "./PeerConnection.ts"
import { bytesOf, firstIsRequest, keyOf, passLine, readLines, type Unreadable, writeLine } from "./StdioTransport.ts"

type Open<R> = Effect.Effect<Duplex, { readonly message: string }, R>

/** Seconds for the peer to come and to answer. */
const patienceSeconds = 30
/** Milliseconds between sessions that are opened without a request of the client. */
const pauses = { first: 1000, longest: 60_000, steady: 60_000 }

/** There is no session now. */
class Absent extends Data.TaggedError("Absent")<{ readonly why: string }> {
  override get message() {
    return this.why
  }
}

/** What a session that has just been opened is. */
type Opened =
  | { readonly _tag: "Frames"; readonly stream: Duplex }
  | { readonly _tag: "Contract"; readonly session: PeerConnection.Session }

interface State<R> {
  readonly open: Open<R>
  readonly stdin: Readable
  readonly stdout: Writable
  readonly news: Queue.Queue<PeerConnection.News>
  readonly scope: Scope.Scope
  /** Requests of the client that have no answer, by id. */
  readonly asked: Map<string, { readonly id: Json.Json; readonly method: string }>
  /** The client's `initialize`, if the revision of MCP that it speaks has one. */
  initialize: { readonly id: Json.Json; readonly line: Uint8Array } | undefined
  /** What a server that takes another's place has to know besides: the log level, and subscriptions by their URI. */
  readonly settings: Map<string, { readonly method: string; readonly params: Json.Json }>
  /** The client has said that it is ready. */
  isReady: boolean
  session: ClientSession | undefined
  opening: Deferred.Deferred<ClientSession, Absent> | undefined
  /** Done when a request needs a session. */
  needed: Deferred.Deferred<void>
  sessions: number
}

/** Opens a session and asks the peer what it speaks. */
const meet = <R>({ news, open }: Pick<State<R>, "news" | "open">): Effect.Effect<Opened, Absent, R> =>
  Effect.gen(function* () {
    const stream = yield* open
    const client = RpcClient.make(stream, () => void Queue.offerUnsafe(news, "changed"))
    const hasFrames = yield* Effect.onError(client.initializeFrames, () => Effect.sync(() => stream.destroy()))
    return hasFrames
      ? ({ _tag: "Frames", stream } as const)
      : ({ _tag: "Contract", session: { client, stream } } as const)
  }).pipe(
    Effect.mapError(({ message: why }) => new Absent({ why })),
    Effect.timeoutOrElse({
      duration: Duration.seconds(patienceSeconds),
      orElse: () =>
        Effect.fail(
          new Absent({ why: `The peer is not there: it did not come within ${patienceSeconds} s. Is it serving?` })
        )
    })
  )

/** Joins the client with a session. */
const join = <R>(state: State<R>, stream: Duplex): ClientSession => {
  const { asked, stdin, stdout } = state
  const session = new ClientSession(stream, state.sessions++, {
    onMessage: (line) => {
      if (!stdout.writable) return
      if (!passLine(stdout, line)) session.messages.hold(true)
    },
    onAnswer: (id) => void asked.delete(keyOf(id)),
    onDrain: () => stdin.resume(),
    onEnd: (why) => {
      if (state.session === session) state.session = undefined
      for (const { id, method } of asked.values()) writeLine(stdout, unanswered(method, id, why))
      asked.clear()
      stdin.resume()
    }
  })
  return session
}

/** Another session in the place of one that has ended. */
const rejoin = Effect.fnUntraced(function* <R>(state: State<R>) {
  // The peer may still be about to end the session before.
  const opened = yield* Effect.retry(meet(state), { times: 2, schedule: Schedule.spaced("500 millis") })
  if (opened._tag === "Contract") {
    opened.session.stream.destroy()
    return yield* new Absent({
      why: "The peer's agent is older than it was: start the MCP server of this client again."
    })
  }
  const session = join(state, opened.stream)
  if (state.initialize !== undefined) {
    const { id, line } = state.initialize
    const answer = yield* Effect.raceFirst(
      session.ask(id, line),
      Effect.flatMap(session.ended, ({ why }) => Effect.fail(new Absent({ why })))
    ).pipe(Effect.onInterrupt(() => Effect.sync(() => void opened.stream.destroy())))
    const error = memberOf(memberOf(answer, "error"), "message")
    if (typeof error === "string") {
      opened.stream.destroy()
      return yield* new Absent({ why: error })
    }
  }
  state.session = session
  if (!state.isReady) return session
  session.messages.send(Buffer.from(Notification.write("notifications/initialized")))
  for (const [name, { method, params }] of state.settings) {
    const setting = `catenet:${name}`
    session.ask(setting, bytesOf({ jsonrpc: "2.0", id: setting, method, params }))
  }
  writeLine(state.stdout, { jsonrpc: "2.0", method: Notification.toolsChanged })
  return session
})

/** The session, or the one that is being opened. */
const sessionOf = <R>(state: State<R>): Effect.Effect<ClientSession, Absent, R> =>
  Effect.suspend(() => {
    if (state.session !== undefined) return Effect.succeed(state.session)
    if (state.opening !== undefined) return Deferred.await(state.opening)
    const outcome = Deferred.makeUnsafe<ClientSession, Absent>()
    state.opening = outcome
    const opening = Effect.onExit(rejoin(state), (exit) =>
      Effect.sync(() => {
        state.opening = undefined
        Deferred.doneUnsafe(
          outcome,
          exit._tag === "Success" ? Effect.succeed(exit.value) : Effect.failCause(exit.cause)
        )
      })
    )
    return Effect.andThen(Effect.forkIn(Effect.ignore(opening), state.scope), Deferred.await(outcome))
  })

/** Notes what a request of the client sets at the server. */
const noteSetting = ({ settings }: State<never>, method: Json.Json | undefined, params: Json.Json | undefined) => {
  if (params === undefined) return
  if (method === "logging/setLevel") settings.set("level", { method, params })
  const uri = textOf(params, "uri")
  if (method === "resources/subscribe" && uri !== undefined) settings.set(`uri:${uri}`, { method, params })
  if (method === "resources/unsubscribe" && uri !== undefined) settings.delete(`uri:${uri}`)
}

const deliver = <R>(state: State<R>, session: ClientSession, message: JsonObject, line: Uint8Array) => {
  const id = memberOf(message, "id")
  const method = memberOf(message, "method")
  const params = memberOf(message, "params")
  if (id !== undefined && typeof method === "string") state.asked.set(keyOf(id), { id, method })
  // The peer does not answer what is cancelled.
  if (method === Notification.cancelled) state.asked.delete(keyOf(memberOf(params, "requestId") ?? null))
  if (method === "initialize" && id !== undefined) state.initialize = { id, line: Buffer.from(line) }
  noteSetting(state as State<never>, method, params)
  session.send(message, line)
  if (session.messages.isFull) state.stdin.pause()
}

/** A message of the client: at once where there is a session, so that their order stays. Only a request opens another one. */
const fromClient = <R>(
  state: State<R>,
  message: JsonObject,
  line: Uint8Array
): Effect.Effect<void, never, R> | undefined => {
  const method = memberOf(message, "method")
  if (method === "notifications/initialized") state.isReady = true
  if (state.session !== undefined) return void deliver(state, state.session, message, line)
  const id = memberOf(message, "id")
  if (id === undefined || typeof method !== "string") return undefined
  Deferred.doneUnsafe(state.needed, Effect.void)
  return sessionOf(state).pipe(
    Effect.map((session) => deliver(state, session, message, line)),
    Effect.catchTag("Absent", ({ message: why }) =>
      Effect.sync(() => writeLine(state.stdout, unanswered(method, id, why)))
    )
  )
}

/** Opens a session again and again, so that the client hears of what is new. */
const keepOpen = Effect.fnUntraced(function* <R>(state: State<R>) {
  const pause = new RestartBackoff(pauses)
  while (true) {
    state.needed = Deferred.makeUnsafe()
    const lasting = Effect.flatMap(sessionOf(state), ({ ended }) => ended)
    const [took, end] = yield* Effect.timed(Effect.option(lasting))
    const isIdle = Option.isSome(end) && !end.value.isLost && end.value.why === idle
    const wait = Effect.sleep(pause.after(Duration.toMillis(took)))
    yield* isIdle ? Deferred.await(state.needed) : Effect.raceFirst(wait, Deferred.await(state.needed))
  }
})

const unreadable = (stdout: Writable, { id = null, isTooLong, why }: Unreadable) =>
  Effect.andThen(
    Effect.logWarning(`a message of the MCP client was refused: it ${why}`),
    Effect.sync(() =>
      writeLine(stdout, {
        jsonrpc: "2.0",
        id,
        error: { code: isTooLong ? -32_600n : -32_700n, message: `the message ${why}` }
      })
    )
  )

/** Until the client closes its end. */
const proxied = Effect.fnUntraced(function* <R>(state: State<R>, stream: Duplex) {
  const { asked, stdin, stdout } = state
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)<R>()
  state.session = join(state, stream)
  stdout.on("drain", () => state.session?.messages.hold(false))
  yield* Effect.forkScoped(keepOpen(state))
  const each = (message: JsonObject, line: Uint8Array) => {
    const waiting = fromClient(state, message, line)
    if (waiting !== undefined) run(waiting)
  }
  yield* Effect.callback<void>((resume) => {
    const over = () => resume(Effect.void)
    readLines(stdin, {
      onMessage: each,
      onBatch: (messages) => {
        for (const message of messages) if (isObject(message)) each(message, bytesOf(message))
      },
      onUnreadable: (line) => void run(unreadable(stdout, line))
    })
    stdin.once("end", over)
    stdin.once("close", over)
    stdout.once("error", over)
  })
  // A client that closes its end may still wait for answers.
  const waiting = Effect.gen(function* () {
    while (asked.size > 0 || state.opening !== undefined) yield* Effect.sleep("20 millis")
  })
  yield* Effect.timeoutOption(waiting, "2 seconds")
  if (state.session !== undefined) yield* state.session.messages.end("")
}, Effect.scoped)

/** Serves until the client closes its end. */
export const serve = Effect.fn("McpClientProxy.serve")(function* <R>(open: Open<R>, stdin: Readable, stdout: Writable) {
  const isRequest = yield* firstIsRequest(stdin)
  const news = yield* Queue.sliding<PeerConnection.News>(16)
  const opened = isRequest ? Option.getOrUndefined(yield* Effect.option(meet({ news, open }))) : undefined
  if (opened?._tag !== "Frames") {
    const link = yield* PeerConnection.make(open, opened === undefined ? undefined : { ...opened, news })
    return yield* McpFacade.serve(link, stdin, stdout)
  }
  const state: State<R> = {
    open,
    stdin,
    stdout,
    news,
    scope: yield* Effect.scope,
    asked: new Map(),
    initialize: undefined,
    settings: new Map(),
    isReady: false,
    session: undefined,
    opening: undefined,
    needed: Deferred.makeUnsafe(),
    sessions: 0
  }
  return yield* proxied(state, opened.stream)
}, Effect.scoped)
