/**
 * The sessions that the tunnels of one process share: one to each process of an edge, and another one where an edge takes no more
 * registrations on it. An older edge does not say how many it takes: there each tunnel has a session.
 */
import type { EdgeProcess } from "@catenet/wire/frames/MuxHello"
import { Context, Effect, Exit, Scope, Semaphore } from "effect"
import type { TLSSocket } from "node:tls"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { DialFailed } from "./EdgeDial.ts"
import { muxAlpn } from "./EdgeDial.ts"
import type { EdgeLink } from "./EdgeLink.ts"
import * as MuxLink from "./MuxLink.ts"
import * as MuxSession from "./MuxSession.ts"
import type { Registration, RegistrationLost, RegistrationRefused } from "./Registration.ts"

/** An edge bounds the registrations of a connection, and counts those that it refuses four times. */
const burst = { registrations: 1000, refusedCost: 4, perSecond: 7 }

interface Shared {
  readonly session: MuxSession.MuxSession
  readonly scope: Scope.Closeable
  isLeaving: boolean
  /** Registrations that may be asked for now, after a time in milliseconds. */
  left: number
  at: number
}

type Wanted = (edgeProcess: EdgeProcess | undefined) => boolean

/** A link on a session that was open or is now, or a new connection to an edge that does not multiplex. */
export type Linked = { readonly link: EdgeLink } | { readonly socket: TLSSocket }

export interface SharedSessions {
  readonly link: (
    edge: string,
    dial: Effect.Effect<TLSSocket, DialFailed>,
    registration: Registration,
    serve: MuxSession.Serve,
    wanted: Wanted
  ) => Effect.Effect<Linked, DialFailed | RegistrationLost | RegistrationRefused>
}

/** Undefined where each tunnel has links of its own. */
export const Sessions = Context.Reference<SharedSessions | undefined>("agent/tunnel/SharedSessions", {
  defaultValue: () => undefined
})

/** Waits until the edge takes another registration on this connection. */
const paced = Effect.fnUntraced(function* (shared: Shared, now: () => number) {
  while (true) {
    shared.left = Math.min(burst.registrations, shared.left + ((now() - shared.at) / 1000) * burst.perSecond)
    shared.at = now()
    if (shared.left >= burst.refusedCost) break
    yield* Effect.sleep("500 millis")
  }
  shared.left -= burst.refusedCost
})

const hasRoom = ({ isLeaving, session }: Shared) => !isLeaving && session.members.size + session.asking < session.most

interface Edge {
  readonly sessions: Set<Shared>
  /** One dial at a time: the others may register on what it opens. */
  readonly dialing: Semaphore.Semaphore
}

interface State {
  readonly outer: Scope.Scope
  readonly metrics: AgentMetrics["Service"]
  readonly byEdge: Map<string, Edge>
}

/** Removes a session once it has closed. */
const follow = ({ outer }: State, sessions: Set<Shared>, shared: Shared) => {
  const leaves = () => {
    shared.isLeaving = true
  }
  const { mux } = shared.session
  void mux.draining.then(leaves)
  return Effect.promise(() => mux.closed).pipe(
    Effect.andThen(
      Effect.sync(() => {
        leaves()
        sessions.delete(shared)
      })
    ),
    Effect.andThen(Scope.close(shared.scope, Exit.void)),
    Effect.forkIn(outer)
  )
}

const opened = Effect.fnUntraced(function* (
  state: State,
  edge: string,
  dial: Effect.Effect<TLSSocket, DialFailed>,
  sessions: Set<Shared>,
  wanted: Wanted
) {
  const { metrics, outer } = state
  const scope = yield* Scope.fork(outer)
  let isOurs = true
  const dialing = Effect.acquireRelease(dial, (socket) => Effect.sync(() => isOurs && socket.destroy()), {
    interruptible: true
  })
  const closing = <A, E, R>(self: Effect.Effect<A, E, R>) =>
    Effect.onError(self, (cause) => Scope.close(scope, Exit.failCause(cause)))
  const socket = yield* dialing.pipe(Scope.provide(scope), closing)
  if (socket.alpnProtocol !== muxAlpn) {
    isOurs = false
    yield* Scope.close(scope, Exit.void)
    return { socket }
  }
  const session = yield* MuxSession.open(edge, socket, wanted).pipe(
    Effect.provideService(AgentMetrics, metrics),
    closing
  )
  const shared: Shared = { session, scope, isLeaving: false, left: burst.registrations, at: metrics.now() }
  sessions.add(shared)
  yield* follow(state, sessions, shared)
  return shared
})

/** A session with room; its place is taken by `asking` until the registration is. */
const sessionFor = Effect.fnUntraced(function* (
  state: State,
  edge: string,
  dial: Effect.Effect<TLSSocket, DialFailed>,
  wanted: Wanted
) {
  const known = state.byEdge.get(edge) ?? { sessions: new Set<Shared>(), dialing: yield* Semaphore.make(1) }
  state.byEdge.set(edge, known)
  const { dialing, sessions } = known
  const take = (shared: Shared) => {
    shared.session.asking++
    return shared
  }
  const open = () => {
    const found = Array.from(sessions).find((one) => hasRoom(one) && wanted(one.session.edgeProcess))
    return found && take(found)
  }
  const found = open()
  if (found !== undefined) return found
  return yield* dialing.withPermit(
    Effect.suspend(() => {
      const made = open()
      return made === undefined
        ? Effect.map(opened(state, edge, dial, sessions, wanted), (one) => ("socket" in one ? one : take(one)))
        : Effect.succeed(made)
    })
  )
})

/** The sessions end with the scope. */
export const make = Effect.gen(function* () {
  const state: State = { outer: yield* Effect.scope, metrics: yield* AgentMetrics, byEdge: new Map() }
  const made: SharedSessions = {
    link: Effect.fn("SharedSessions.link")(function* (edge, dial, registration, serve, wanted) {
      const shared = yield* sessionFor(state, edge, dial, wanted)
      if ("socket" in shared) return shared
      const { session } = shared
      yield* Effect.onInterrupt(paced(shared, state.metrics.now), () => Effect.sync(() => session.asking--))
      const link = yield* MuxLink.register(session, registration, serve, true).pipe(
        Effect.onError(() =>
          Effect.sync(() => {
            if (session.members.size + session.asking === 0) session.mux.close("normal")
          })
        )
      )
      // One that was refused counts as much as was taken for it.
      shared.left += burst.refusedCost - 1
      return { link }
    })
  }
  return made
})
