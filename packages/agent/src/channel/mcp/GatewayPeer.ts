/**
 * One peer of the gateway: a session that is opened again when it ends, the tools that the peer's server listed last, and requests to
 * it. What the server asks of the client passes too. Peers do not wait for each other.
 */
import * as Json from "@catenet/crypto/Json"
import { Deferred, Duration, Effect, Queue, Result, Schedule } from "effect"
import type { Duplex } from "node:stream"
import * as Notification from "../rpc/Notification.ts"
import * as RpcClient from "../rpc/RpcClient.ts"
import { type JsonObject, textOf } from "../rpc/Tool.ts"
import { RestartBackoff } from "../serve/RejoinBackoff.ts"
import {
  framed,
  type GatewayClient,
  listChanges,
  ofTools,
  PeerAbsent,
  type Report,
  type Session,
  updated
} from "./GatewaySession.ts"
import { memberOf } from "./McpResult.ts"
import * as McpResult from "./McpResult.ts"
import { idle } from "./McpServerProxy.ts"
import * as PeerNames from "./PeerNames.ts"

/** Seconds for a peer to come, and for a call to wait for it. */
const patienceSeconds = 30
/** Milliseconds between sessions that are opened without a call. */
const pauses = { first: 1000, longest: 60_000, steady: 60_000 }
export interface GatewayPeer {
  readonly name: string
  /** The entries of `tools/list`; undefined before the first. */
  readonly tools: () => ReadonlyArray<JsonObject> | undefined
  /** Why it is not there now, as a sentence. */
  readonly absence: () => string | undefined
  /** Succeeds when the first attempt to reach the peer has ended. */
  readonly tried: Effect.Effect<void>
  /** What its server said last that it can do. */
  readonly capabilities: () => Json.Json | undefined
  /** `params` and the answer are in the names of the peer's server. */
  readonly request: (method: string, params: JsonObject, report: Report) => Effect.Effect<JsonObject, PeerAbsent>
  readonly tell: (method: string, params: Json.Json | undefined) => void
  /** Sets the client's log level at its server. */
  readonly setLevel: Effect.Effect<void>
}

interface State {
  readonly name: string
  readonly client: GatewayClient
  session: Session | undefined
  tools: ReadonlyArray<JsonObject> | undefined
  capabilities: Json.Json | undefined
  /** Parameters of the client's subscriptions to resources, which the next session needs too. */
  readonly subscriptions: Map<string, JsonObject>
  absence: string | undefined
  /** Done when the next session is open, or the attempt has failed. */
  opened: Deferred.Deferred<Session, PeerAbsent>
  /** Done when a call needs a session. */
  needed: Deferred.Deferred<void>
}

/** The result of an answer; an error is a failure with its message. */
export const resultOf = (answer: JsonObject) => {
  const error = memberOf(answer, "error")
  const message = memberOf(error, "message")
  return error === undefined
    ? Effect.succeed(memberOf(answer, "result") ?? null)
    : Effect.fail(new PeerAbsent({ why: typeof message === "string" ? message : Json.write(error) }))
}

/** Asks the server for all its tools. */
const list = Effect.fnUntraced(function* (state: State, session: Session) {
  const read = McpResult.read((params) => Effect.flatMap(session.request("tools/list", params), resultOf))
  const before = Json.write([...(state.tools ?? [])])
  state.tools = (yield* read).map(McpResult.listed)
  if (Json.write([...state.tools]) !== before) state.client.onChanged(Notification.toolsChanged)
})

const levelled = ({ client }: State, session: Session) => {
  const level = client.level()
  return level === undefined ? Effect.void : Effect.ignore(session.request("logging/setLevel", level))
}

const begin = Effect.fnUntraced(function* <R>(
  state: State,
  open: Effect.Effect<Duplex, { readonly message: string }, R>,
  changes: Queue.Queue<void>
) {
  const { client } = state
  const stream = yield* open
  const rpc = RpcClient.make(stream, () => void Queue.offerUnsafe(changes, undefined))
  state.capabilities = undefined
  if (!(yield* rpc.initializeFrames)) return ofTools(stream, rpc)
  const session = yield* framed(stream, client, changes)
  const initialized = yield* Effect.flatMap(session.request("initialize", client.initialize), resultOf)
  state.capabilities = memberOf(initialized, "capabilities")
  session.notify("notifications/initialized", undefined)
  const subscribe = Effect.forEach([...state.subscriptions.values()], (params) =>
    Effect.ignore(session.request("resources/subscribe", params))
  )
  yield* Effect.forkScoped(Effect.andThen(levelled(state, session), subscribe))
  for (const method of listChanges) client.onChanged(method)
  return session
})

/** Answers the calls that wait for a session. */
const outcome = (state: State, how: Effect.Effect<Session, PeerAbsent>) => {
  Deferred.doneUnsafe(state.opened, how)
  state.opened = Deferred.makeUnsafe()
}

/** One session, to its end. */
const once = Effect.fnUntraced(function* <R>(
  state: State,
  open: Effect.Effect<Duplex, { readonly message: string }, R>,
  first: Deferred.Deferred<void>
) {
  const changes = yield* Queue.sliding<void>(1)
  // The peer may still be about to end the session before.
  const session = yield* Effect.retry(begin(state, open, changes), {
    times: 2,
    schedule: Schedule.spaced("500 millis")
  }).pipe(
    Effect.mapError(({ message: why }) => new PeerAbsent({ why })),
    Effect.timeoutOrElse({
      duration: Duration.seconds(patienceSeconds),
      orElse: () => Effect.fail(new PeerAbsent({ why: `it did not come within ${patienceSeconds} s. Is it serving?` }))
    })
  )
  yield* list(state, session)
  state.session = session
  state.absence = undefined
  outcome(state, Effect.succeed(session))
  Deferred.doneUnsafe(first, Effect.void)
  yield* Effect.logInfo(`${state.name} is there`)
  const listing = Effect.forever(Effect.andThen(Queue.take(changes), Effect.ignore(list(state, session))))
  return yield* Effect.raceFirst(session.ended, listing).pipe(
    Effect.ensuring(Effect.sync(() => void (state.session = undefined)))
  )
}, Effect.scoped)

const noteSubscription = ({ subscriptions }: State, method: string, params: JsonObject, answer: JsonObject) => {
  const uri = textOf(params, "uri") ?? ""
  if (method === "resources/unsubscribe") subscriptions.delete(uri)
  if (method === "resources/subscribe" && memberOf(answer, "error") === undefined) subscriptions.set(uri, params)
}

const absent = ({ absence = "it did not come. Is it serving?", name }: State) =>
  new PeerAbsent({ why: `${name} is not there: ${absence}` })

const keep = Effect.fnUntraced(function* <R>(
  state: State,
  open: Effect.Effect<Duplex, { readonly message: string }, R>,
  first: Deferred.Deferred<void>
) {
  const pause = new RestartBackoff(pauses)
  while (true) {
    state.needed = Deferred.makeUnsafe()
    const [took, ended] = yield* Effect.timed(Effect.result(once(state, open, first)))
    const why = Result.isSuccess(ended) ? ended.success.why : ended.failure.message
    const isIdle = Result.isSuccess(ended) && !ended.success.isLost && why === idle
    if (Result.isFailure(ended) && state.absence !== why) yield* Effect.logWarning(`${state.name} is not there: ${why}`)
    if (!isIdle) state.absence = why === "" ? "the session has ended" : why
    if (Result.isFailure(ended)) outcome(state, Effect.fail(absent(state)))
    Deferred.doneUnsafe(first, Effect.void)
    const wait = Effect.sleep(pause.after(Duration.toMillis(took)))
    yield* isIdle ? Deferred.await(state.needed) : Effect.raceFirst(wait, Deferred.await(state.needed))
  }
})

/** `open` waits for the peer; its stream lives until the scope of the session closes. */
export const make = Effect.fn("GatewayPeer.make")(function* <R>(
  name: string,
  client: GatewayClient,
  open: Effect.Effect<Duplex, { readonly message: string }, R>
) {
  const first = yield* Deferred.make<void>()
  const named: GatewayClient = {
    ...client,
    notify: (method, params) =>
      client.notify(method, method === updated ? PeerNames.outward(name, "uri", params ?? null) : params)
  }
  const state: State = {
    name,
    client: named,
    session: undefined,
    tools: undefined,
    capabilities: undefined,
    subscriptions: new Map(),
    absence: undefined,
    opened: Deferred.makeUnsafe(),
    needed: Deferred.makeUnsafe()
  }
  yield* Effect.forkScoped(keep(state, open, first))
  const sessionOf = Effect.suspend(() => {
    if (state.session !== undefined) return Effect.succeed(state.session)
    Deferred.doneUnsafe(state.needed, Effect.void)
    return Effect.timeoutOrElse(Deferred.await(state.opened), {
      duration: Duration.seconds(patienceSeconds),
      orElse: () => Effect.fail(absent(state))
    })
  })
  const peer: GatewayPeer = {
    name,
    tools: () => state.tools,
    absence: () => state.absence,
    tried: Deferred.await(first),
    capabilities: () => state.capabilities,
    request: (method, params, report) =>
      Effect.flatMap(sessionOf, (session) => session.request(method, params, report)).pipe(
        Effect.tap((answer) => Effect.sync(() => noteSubscription(state, method, params, answer)))
      ),
    tell: (method, params) => state.session?.notify(method, params),
    setLevel: Effect.suspend(() => (state.session === undefined ? Effect.void : levelled(state, state.session)))
  }
  return peer
})
