/**
 * The running relays by token. Bytes are counted while they flow; revocation and the end of an access window cut every relay of a
 * token at once. A visitor whose agent breaks before its first byte is passed to another agent if that is safe.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import type { ResetCode } from "@catenet/wire/frames/MuxReason"
import { StreamReset } from "@catenet/wire/transport/Carrier"
import { guarded } from "@catenet/wire/transport/FaultBoundary"
import { splice, type SpliceCounters, type SpliceEnd } from "@catenet/wire/transport/Splice"
import { Context, Duration, Effect, Layer } from "effect"
import type { Duplex } from "node:stream"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import type { AgentPool, Traffic } from "../sessions/AgentPool.ts"
import type { Delivered } from "../sessions/StreamDelivery.ts"
import { Settings } from "../settings/Settings.ts"
import * as FailOver from "./FailOver.ts"
import { ReplayBuffer } from "./ReplayBuffer.ts"

/** Counts the bytes of one relay while they flow, for its idle limit, its tunnel and the edge. */
type Totals = Pick<Counters["Service"], "bytesToAgents" | "bytesToVisitors" | "bytesOf">

class ByteMeter implements SpliceCounters {
  readonly #total: Traffic
  readonly #edge: Totals
  /** The purpose of the bytes from now on. */
  kind: keyof Totals["bytesOf"]
  #fromVisitor = 0
  #fromAgent = 0

  constructor(total: Traffic, edge: Totals, kind: keyof Totals["bytesOf"]) {
    this.#total = total
    this.#edge = edge
    this.kind = kind
  }

  get aToB() {
    return this.#fromVisitor
  }

  set aToB(bytes: number) {
    const moved = bytes - this.#fromVisitor
    this.#fromVisitor = bytes
    this.#total.aToB += moved
    this.#edge.bytesToAgents += moved
    this.#edge.bytesOf[this.kind] += moved
  }

  get bToA() {
    return this.#fromAgent
  }

  set bToA(bytes: number) {
    const moved = bytes - this.#fromAgent
    this.#fromAgent = bytes
    this.#total.bToA += moved
    this.#edge.bytesToVisitors += moved
    this.#edge.bytesOf[this.kind] += moved
  }
}

/** What a relay serves: visitors of hosts, or clients of the mesh. */
export type Clientele = "browser" | "dataplane"

/** Options of `pass`: a byte counter, and a signal that cuts it. */
export interface Watched {
  readonly counters: SpliceCounters
  readonly signal: AbortSignal
  /** Idle limit, instead of that of all relays. */
  readonly idleMillis?: number
}

export type CutReason = "revoked" | "window-closed" | "draining"

const resetBecause = (code: ResetCode, sentence: string) => new StreamReset({ code, sentence, by: "local" })

/** The kind under which its bytes are counted. */
const kindOf = ({ carrier }: Delivered, clientele: Clientele) =>
  carrier === "tcp-fallback" ? "tcp_fallback" : clientele

const sentences: Record<CutReason, string> = {
  revoked: "this tunnel was revoked",
  "window-closed": "the access window has closed",
  draining: "this edge is stopping"
}

const makeState = Effect.gen(function* () {
  const { relayIdleSeconds } = yield* Settings
  const { report } = yield* ConnectionFaults
  const idleMillis = relayIdleSeconds === 0 ? undefined : Duration.toMillis(Duration.seconds(relayIdleSeconds))
  return {
    counters: yield* Counters,
    report,
    findAnother: yield* FailOver.make,
    serve: yield* makeServe,
    live: new Map<string, Set<AbortController>>(),
    passing: new Set<AbortController>(),
    idleMillis,
    limits: { onFault: report, ...(idleMillis === undefined ? {} : { idleMillis }) },
    active: 0
  }
})
type State = Effect.Success<typeof makeState>

const enter = (state: State, tunnel: AgentPool) => {
  const controller = new AbortController()
  const ofToken = state.live.get(tunnel.token) ?? new Set()
  state.live.set(tunnel.token, ofToken.add(controller))
  state.active += 1
  tunnel.relays += 1
  tunnel.visits += 1
  state.counters.relays += 1
  return controller
}

const leave = (state: State, tunnel: AgentPool, controller: AbortController) => {
  const ofToken = state.live.get(tunnel.token)
  ofToken?.delete(controller)
  if (ofToken?.size === 0) state.live.delete(tunnel.token)
  state.active -= 1
  tunnel.relays -= 1
}

const cut = ({ counters, live }: State, token: string, reason: CutReason) => {
  for (const controller of live.get(token) ?? []) {
    counters.relaysCut += 1
    controller.abort(resetBecause(reason, sentences[reason]))
  }
}

/** Finds the agent that serves the visitor, under the idle limit. */
const open = (
  { findAnother, idleMillis, report, serve }: State,
  first: Delivered,
  visitor: Duplex,
  failOver: FailOver.FailOver,
  meter: ByteMeter,
  controller: AbortController,
  opened: (agent: Delivered | undefined) => void
) => {
  const onIdle = () => controller.abort(resetBecause("idle", ""))
  // Bytes before the agent's first byte are only buffered, so the splice has no timer yet.
  const timer = idleMillis === undefined ? undefined : Scheduler.setTimeout(guarded(report, onIdle), idleMillis).unref()
  const { signal } = controller
  const settle = (agent: Delivered | undefined) => {
    Scheduler.clearTimeout(timer)
    opened(agent)
  }
  const opening = new ReplayBuffer({ visitor, repeatable: failOver.repeatable, counters: meter, signal })
  opening.open(first, (broke) => {
    if (!broke) return settle(first)
    serve(visitor, () =>
      findAnother(first, failOver, opening, signal).pipe(
        Effect.onError(() => Effect.sync(() => settle(undefined))),
        Effect.map(settle)
      )
    )
  })
}

const begin = (
  state: State,
  first: Delivered,
  visitor: Duplex,
  clientele: Clientele,
  failOver: FailOver.FailOver | undefined,
  done: (end: SpliceEnd) => void
) => {
  const controller = enter(state, first.tunnel)
  const meter = new ByteMeter(first.tunnel.traffic, state.counters, kindOf(first, clientele))
  const finish = (end: SpliceEnd) => {
    leave(state, first.tunnel, controller)
    done(end)
  }
  const pass = (agent: Delivered | undefined) => {
    if (agent === undefined) return finish({ _tag: "Aborted", reason: undefined })
    meter.kind = kindOf(agent, clientele)
    return void splice(visitor, agent.stream, { counters: meter, signal: controller.signal, ...state.limits }).then(
      finish
    )
  }
  if (failOver === undefined) pass(first)
  else open(state, first, visitor, failOver, meter, controller, pass)
  return controller
}

const cutAll = (state: State, reason: CutReason) => {
  for (const token of Array.from(state.live.keys())) cut(state, token, reason)
  for (const controller of state.passing) controller.abort(resetBecause(reason, sentences[reason]))
}

export class Relays extends Context.Service<
  Relays,
  {
    /**
     * Copies both ways until both directions have ended, an error, the idle limit, or a cut. Never fails. It belongs to the edge
     * and not to the caller, because a waiting fiber would cost more than the copying. With `failOver`, up to two more agents are
     * tried while none has answered; it counts as one relay.
     */
    readonly start: (agent: Delivered, visitor: Duplex, clientele: Clientele, failOver?: FailOver.FailOver) => void
    /** The same, and waits for its end; interruption cuts it. */
    readonly run: (agent: Delivered, visitor: Duplex, clientele: Clientele) => Effect.Effect<SpliceEnd>
    /** Copies between a visitor and another edge, under the same idle limit. It is no relay of this edge's own tunnels. */
    readonly pass: (visitor: Duplex, peer: Duplex, watched?: Watched) => Effect.Effect<SpliceEnd>
    readonly cut: (token: string, reason: CutReason) => void
    /** Cuts everything that runs. */
    readonly cutAll: (reason: CutReason) => void
    readonly active: () => number
    readonly passing: () => number
  }
>()("edge/relay/Relays") {
  static readonly make = Effect.gen(function* () {
    const state = yield* makeState
    yield* Effect.addFinalizer(() => Effect.sync(() => cutAll(state, "draining")))
    return Relays.of({
      start: (agent, visitor, clientele, failOver) =>
        void begin(state, agent, visitor, clientele, failOver, () => undefined),
      run: (agent, visitor, clientele) =>
        Effect.callback((resume) => {
          const controller = begin(state, agent, visitor, clientele, undefined, (end) => resume(Effect.succeed(end)))
          return Effect.sync(() => controller.abort(resetBecause("cancelled", "")))
        }),
      pass: (visitor, peer, watched) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const controller = new AbortController()
            state.passing.add(controller)
            return controller
          }),
          ({ signal }) => {
            const options =
              watched === undefined
                ? { signal, ...state.limits }
                : { ...state.limits, ...watched, signal: AbortSignal.any([signal, watched.signal]) }
            return Effect.promise(() => splice(visitor, peer, options))
          },
          (controller) => Effect.sync(() => state.passing.delete(controller))
        ),
      cut: (token, reason) => cut(state, token, reason),
      cutAll: (reason) => cutAll(state, reason),
      active: () => state.active,
      passing: () => state.passing.size
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(Layer.provide([Counters.layer, ConnectionFaults.layer]))
}
