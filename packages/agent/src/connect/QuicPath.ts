/**
 * A client's QUIC connection to the edge, shared by its streams and opened on first use, and the direct path around the edge if
 * the agent has offered one (data-plane 4.4 and 4.6).
 */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { decodePeerReply } from "@catenet/wire/frames/QuicRole"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { Clock, Effect, Exit, Redacted, Result, Scope, Semaphore } from "effect"
import { QuicDial, QuicUnreachable } from "../carrier/QuicDial.ts"
import * as QuicRequest from "../carrier/QuicRequest.ts"
import { formatHostPort, type HostPort, parseHostPort } from "../settings/HostPort.ts"
import type { Carrier } from "../settings/TunnelTransports.ts"
import { restMillis } from "./DirectPathState.ts"

/** The edge lets a connection have a hundred at a time. */
const maxStreams = 90
const dialMillis = 3_000
const directMillis = 1_500
/** Closing a connection discards data in transit. */
const closeDelay = "2 seconds"

export interface QuicPath {
  /** Transports to the edge in the order in which they are tried; the last one that worked comes first. */
  readonly ways: () => ReadonlyArray<"quic" | "tls">
  readonly worked: (way: "quic" | "tls") => void
  /** A stream to the edge. */
  readonly stream: Effect.Effect<CarrierStream, QuicUnreachable>
  /** A stream directly to the agent; undefined if there is no such path. */
  readonly direct: Effect.Effect<CarrierStream | undefined>
  readonly directFailed: Effect.Effect<void>
}

const waysOf = (wanted: ReadonlyArray<Carrier>) =>
  Array.from(new Set(wanted.map((carrier) => (carrier === "quic" ? ("quic" as const) : ("tls" as const)))))

interface Shared {
  readonly connection: QuicConnection
  open: number
}

interface State {
  readonly quic: QuicDial["Service"]
  readonly edge: HostPort
  readonly roots: string
  readonly token: Redacted.Redacted<Uint8Array>
  /** Scope of all connections. */
  readonly scope: Scope.Scope
  readonly dialing: Semaphore.Semaphore
  ways: ReturnType<typeof waysOf>
  shared: Shared | undefined
  /** The direct path is not tried before this time. */
  restsUntil: number
}

/** A connection with its own scope. */
const dial = Effect.fnUntraced(function* (state: State, target: Parameters<QuicDial["Service"]["dial"]>[0]) {
  const scope = yield* Scope.fork(state.scope)
  const close = (exit: Exit.Exit<unknown, unknown>) => Scope.close(scope, exit)
  const connection = yield* state.quic.dial(target).pipe(
    Scope.provide(scope),
    Effect.onError((cause) => close(Exit.failCause(cause)))
  )
  yield* Effect.forkIn(
    Effect.andThen(
      Effect.promise(() => connection.closed),
      close(Exit.void)
    ),
    state.scope
  )
  return connection
})

const ended = (stream: CarrierStream) =>
  Effect.callback<void>((resume) => void stream.once("close", () => resume(Effect.void)))

const closeLater = (connection: QuicConnection) =>
  Effect.andThen(
    Effect.sleep(closeDelay),
    Effect.sync(() => connection.close())
  )

/** The shared connection, dialled if there is none that has room. */
const share = (state: State) =>
  state.dialing.withPermits(1)(
    Effect.gen(function* () {
      const { edge, roots, shared } = state
      if (shared !== undefined && !shared.connection.isClosed && shared.open < maxStreams) return shared
      const next: Shared = { connection: yield* dial(state, { ...edge, roots, millis: dialMillis }), open: 0 }
      state.shared = next
      return next
    })
  )

const openStream = Effect.fnUntraced(function* (state: State) {
  const held = yield* share(state)
  const opened = held.connection.open()
  if (Result.isFailure(opened))
    return yield* new QuicUnreachable({ peer: formatHostPort(state.edge), why: opened.failure.message })
  held.open++
  const left = Effect.suspend(() => {
    held.open--
    return held.open === 0 && held !== state.shared ? closeLater(held.connection) : Effect.void
  })
  yield* Effect.forkIn(Effect.andThen(ended(opened.success), left), state.scope)
  return opened.success
})

/** The agent's listener, as reported by the edge. */
const askListener = Effect.fnUntraced(function* (state: State) {
  const { connection } = yield* share(state)
  const reply = yield* QuicRequest.ask(connection, { role: "P", token: Redacted.value(state.token) })
  const listener = reply === undefined ? null : Result.getOrUndefined(decodePeerReply(reply))?.value
  const address = listener ? parseHostPort(listener.address) : undefined
  return listener && address ? { ...address, roots: Certificate.pem(listener.certificate) } : undefined
})

const restDirect = (state: State) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    state.restsUntil = now + restMillis
  })

const openDirect = Effect.fnUntraced(function* (state: State) {
  if ((yield* Clock.currentTimeMillis) < state.restsUntil || state.ways[0] !== "quic") return undefined
  const target = yield* askListener(state)
  if (target !== undefined) {
    const connection = yield* dial(state, { ...target, millis: directMillis })
    const opened = connection.open()
    if (Result.isSuccess(opened)) {
      yield* Effect.forkIn(Effect.andThen(ended(opened.success), closeLater(connection)), state.scope)
      return opened.success
    }
  }
  yield* restDirect(state)
  return undefined
})

/** Undefined where QUIC is not wanted or its runtime is not installed. */
export const make = Effect.fn("QuicPath.make")(function* (
  edge: HostPort,
  roots: string,
  token: Redacted.Redacted<Uint8Array>,
  wanted: ReadonlyArray<Carrier>
) {
  const quic = yield* QuicDial
  if (!wanted.includes("quic") || (!quic.isInstalled && wanted.length > 1)) return undefined
  const state: State = {
    quic,
    edge,
    roots,
    token,
    scope: yield* Effect.scope,
    dialing: yield* Semaphore.make(1),
    ways: waysOf(wanted),
    shared: undefined,
    restsUntil: Number.NEGATIVE_INFINITY
  }
  const route: QuicPath = {
    ways: () => state.ways,
    worked: (way) => {
      state.ways = [way, ...state.ways.filter((other) => other !== way)]
    },
    stream: openStream(state),
    direct: openDirect(state).pipe(Effect.catch(() => Effect.as(restDirect(state), undefined))),
    directFailed: restDirect(state)
  }
  return route
})
