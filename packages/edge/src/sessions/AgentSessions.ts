/**
 * All connected agents by token. A visitor gets a stream to the least loaded multiplexed agent, else the slot that has waited
 * longest, else the first agent to arrive within the delivery wait. Dead agents are skipped.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { Clock, Context, Data, Effect, Layer, Result, Schedule } from "effect"
import { Counters } from "../observe/Counters.ts"
import { Routes } from "../routes/Routes.ts"
import { Settings } from "../settings/Settings.ts"
import { refusalOf } from "./AgentAuthorization.ts"
import { type Carrier, type AgentTarget, carrierOf, type MuxAgent, type SlotAgent, AgentPool } from "./AgentPool.ts"
import { CertificateHolders } from "./CertificateHolders.ts"
import * as Liveness from "./Liveness.ts"
import type { AgentWatcher, SessionObserver } from "./SessionObserver.ts"
import { type Attempts, awaitArrival, type Delivered, fromMux, fromReady, type StreamHeader } from "./StreamDelivery.ts"

/** No agent of the tunnel could take the stream. */
export class TunnelOffline extends Data.TaggedError("TunnelOffline")<{ readonly token: string }> {}

/** A tunnel whose last agent left this recently is probably reconnecting: its visitors wait for it. */
const returnMillis = 30_000
/**
 * Grace period after the start of the edge, in delivery waits. Agents retry with backoff: the next attempt may come as late as the
 * edge was down.
 */
const startWaits = 4
const forgetEvery = "5 seconds"

const makeState = Effect.gen(function* () {
  const { deliverWaitMillis } = yield* Settings
  const clock = yield* Clock.Clock
  const cameUp: { at: number; restored: ReadonlySet<string> } = { at: 0, restored: new Set() }
  return {
    deliverWaitMillis,
    counters: yield* Counters,
    routes: yield* Routes,
    clock,
    tunnels: new Map<string, AgentPool>(),
    byVisitorToken: new Map<string, AgentPool>(),
    cameUp,
    observers: new Set<SessionObserver>(),
    watchers: new Set<AgentWatcher>(),
    certificates: new CertificateHolders(() => clock.currentTimeMillisUnsafe(), returnMillis)
  }
})
type State = Effect.Success<typeof makeState>

const ensure = ({ byVisitorToken, tunnels }: State, token: string) => {
  const known = tunnels.get(token)
  if (known !== undefined) return known
  const tunnel = new AgentPool(token)
  tunnels.set(token, tunnel)
  byVisitorToken.set(tunnel.visitorToken, tunnel)
  return tunnel
}

const arrived = ({ clock, observers }: State, tunnel: AgentPool, carrier: Carrier, add: () => void) => {
  const first = !tunnel.connected
  add()
  tunnel.lastSeen = clock.currentTimeMillisUnsafe()
  if (first) tunnel.connectedSince = tunnel.lastSeen
  for (const observer of observers) {
    if (first) observer.connected(tunnel, carrier)
    else observer.carried(tunnel, tunnel.isMultiplexed ? "mux" : carrier)
  }
}

const left = ({ clock, observers }: State, tunnel: AgentPool, reason: "registration-closed" | "revoked") => {
  tunnel.lastSeen = clock.currentTimeMillisUnsafe()
  if (tunnel.connected || tunnel.connectedSince === undefined) return
  tunnel.connectedSince = undefined
  for (const observer of observers) observer.disconnected(tunnel, reason)
}

/** Drops disconnected tunnels without a host, because an agent may register any token. */
const forget = ({ byVisitorToken, routes, tunnels }: State) =>
  Effect.sync(() => {
    for (const [token, tunnel] of tunnels) {
      if (tunnel.connected || tunnel.relays > 0 || routes.knows(token)) continue
      tunnels.delete(token)
      byVisitorToken.delete(tunnel.visitorToken)
    }
  })

const slotsChanged = ({ watchers }: State, tunnel: AgentPool, host: string | undefined) => {
  for (const watcher of watchers) watcher.slots(tunnel, host)
}

const release = (state: State, tunnel: AgentPool) => {
  tunnel.carrying -= 1
  left(state, tunnel, "registration-closed")
}

const fromSlots = Effect.fnUntraced(function* (state: State, tunnel: AgentPool, target: AgentTarget) {
  for (;;) {
    const agent = tunnel.takeSlot(target)
    if (agent === undefined) return undefined
    slotsChanged(state, tunnel, agent.host)
    tunnel.carrying += 1
    const delivered = yield* Effect.promise(() => agent.slot.deliver())
    if (Result.isSuccess(delivered)) {
      state.counters.fallbackDeliveries += 1
      delivered.success.once("close", () => release(state, tunnel))
      return { tunnel, stream: delivered.success, carrier: "tcp-fallback", agent } satisfies Delivered
    }
    release(state, tunnel)
    state.counters.failovers += 1
  }
})

const deliver = Effect.fn("AgentSessions.deliver")(function* (
  state: State,
  token: string,
  target: AgentTarget,
  header: StreamHeader,
  attempts?: Attempts,
  from: "here" | "anywhere" = "anywhere"
) {
  const anywhere = from === "anywhere"
  const awaited =
    state.clock.currentTimeMillisUnsafe() - state.cameUp.at < returnMillis && state.cameUp.restored.has(token)
  const tunnel = awaited ? ensure(state, token) : state.tunnels.get(token)
  if (tunnel === undefined) return yield* new TunnelOffline({ token })
  const usual = state.clock.currentTimeMillisUnsafe() + state.deliverWaitMillis
  const atStart = awaited ? state.cameUp.at + startWaits * state.deliverWaitMillis : 0
  const deadline = attempts?.waitUntil ?? Math.max(usual, atStart)
  for (;;) {
    const within = (found: ReadonlyArray<MuxAgent>) => (anywhere ? found : found.filter(({ sibling }) => !sibling))
    const delivered =
      (yield* fromMux(state.counters, tunnel, within(tunnel.candidates(target)), "mux", header, attempts)) ??
      (yield* fromSlots(state, tunnel, target)) ??
      (anywhere
        ? yield* fromMux(state.counters, tunnel, tunnel.slotsElsewhere(target), "tcp-fallback", header, attempts)
        : undefined) ??
      (yield* fromMux(
        state.counters,
        tunnel,
        within(state.certificates.lastResort(tunnel, target)),
        "mux",
        header,
        attempts
      ))
    if (delivered !== undefined) return delivered
    const now = state.clock.currentTimeMillisUnsafe()
    const returning = awaited || tunnel.connected || tunnel.relays > 0 || now - (tunnel.lastSeen ?? 0) < returnMillis
    if (!returning || now >= deadline) return yield* new TunnelOffline({ token })
    yield* Effect.timeoutOrElse(awaitArrival(tunnel, target), { duration: deadline - now, orElse: () => Effect.void })
  }
})

const revoke = (state: State, token: string) => {
  const tunnel = state.tunnels.get(token)
  if (tunnel === undefined) return
  tunnel.revoke()
  left(state, tunnel, "revoked")
}

const keepEnrolled = (state: State, token: string, before: ReadonlySet<string>) => {
  const { routes } = state
  const tunnel = state.tunnels.get(token)
  if (tunnel === undefined) return
  const keys = routes.agentKeys(token)
  const dropped = (key: string | undefined) => key !== undefined && before.has(key) && !keys.has(key)
  for (const agent of Array.from(tunnel.muxes))
    if (agent.sibling === undefined && (dropped(agent.key) || refusalOf(routes, token, agent.key) !== undefined))
      agent.end("proof-required")
  if (routes.agentProof(token) !== "required") return
  tunnel.endSlots()
  left(state, tunnel, "registration-closed")
}

export class AgentSessions extends Context.Service<
  AgentSessions,
  {
    readonly tunnel: (token: string) => AgentPool | undefined
    /** The tunnel of a mesh client's token: a visitor token, or a routing token in older capabilities. */
    readonly visited: (token: string) => AgentPool | undefined
    readonly all: () => Iterable<AgentPool>
    /** The tunnel of a token; created if it is unknown. */
    readonly ensure: (token: string) => AgentPool
    readonly addMux: (token: string, agent: MuxAgent) => void
    readonly removeMux: (token: string, agent: MuxAgent) => void
    /** The agent reports another state of a certificate. */
    readonly certificateChanged: (token: string, agent: MuxAgent) => void
    readonly park: (token: string, agent: SlotAgent) => void
    readonly unpark: (token: string, agent: SlotAgent) => void
    readonly revoke: (token: string) => void
    /** Ends the sessions of agents that may not serve the tunnel any more, and of those that proved a dropped key. */
    readonly keepEnrolled: (token: string, dropped: ReadonlySet<string>) => void
    readonly observe: (observer: SessionObserver) => void
    readonly watch: (watcher: AgentWatcher) => void
    readonly deliver: (
      token: string,
      target: AgentTarget,
      header: StreamHeader,
      attempts?: Attempts
    ) => Effect.Effect<Delivered, TunnelOffline>
    /** The same without waiting; if it returns undefined, use `deliver`. */
    readonly deliverNow: (token: string, target: AgentTarget, header: StreamHeader) => Delivered | undefined
    /**
     * The edge has started with its restored state: the agents of those tunnels are probably reconnecting, and visitors wait for
     * them.
     */
    readonly awaitReturn: () => void
    /**
     * The same for a visitor from a sibling process: only by agents of this process. The agent that the sibling has chosen goes
     * first; if there is one, others are not waited for, because the sibling may know one.
     */
    readonly deliverHere: (
      token: string,
      target: AgentTarget,
      header: StreamHeader,
      chosen: MuxAgent | undefined
    ) => Effect.Effect<Delivered, TunnelOffline>
  }
>()("edge/sessions/AgentSessions") {
  static readonly make = Effect.gen(function* () {
    const state = yield* makeState
    yield* Liveness.watch(() => state.tunnels.values())
    const forgetting = Effect.repeat(forget(state), Schedule.spaced(forgetEvery))
    yield* Effect.forkScoped(forgetting.pipe(retryForever("forgetting tunnels")))
    return AgentSessions.of({
      tunnel: (token) => state.tunnels.get(token),
      visited: (token) => state.byVisitorToken.get(token) ?? state.tunnels.get(token),
      all: () => state.tunnels.values(),
      ensure: (token) => ensure(state, token),
      addMux: (token, agent) => {
        const tunnel = ensure(state, token)
        if (agent.sibling === undefined) {
          state.counters.registrations += 1
          for (const watcher of state.watchers) watcher.joined(token, agent)
        }
        state.certificates.note(tunnel, agent)
        arrived(state, tunnel, carrierOf(agent, agent.sibling === "slots" ? "tcp-fallback" : "mux"), () =>
          tunnel.addMux(agent)
        )
      },
      certificateChanged: (token, agent) => {
        const tunnel = state.tunnels.get(token)
        if (tunnel?.muxes.has(agent) !== true) return
        state.certificates.note(tunnel, agent)
        if (agent.sibling === undefined) for (const watcher of state.watchers) watcher.changed(token, agent)
        tunnel.wakeAll()
      },
      removeMux: (token, agent) => {
        if (agent.sibling === undefined) for (const watcher of state.watchers) watcher.left(token, agent)
        const tunnel = state.tunnels.get(token)
        if (tunnel?.muxes.delete(agent) !== true) return
        state.certificates.note(tunnel, agent, false)
        left(state, tunnel, "registration-closed")
      },
      park: (token, agent) => {
        const tunnel = ensure(state, token)
        state.counters.fallbackParks += 1
        arrived(state, tunnel, "tcp-fallback", () => tunnel.park(agent))
        slotsChanged(state, tunnel, agent.host)
      },
      unpark: (token, agent) => {
        const tunnel = state.tunnels.get(token)
        if (tunnel === undefined) return
        const parked = tunnel.dropSlot(agent)
        slotsChanged(state, tunnel, agent.host)
        if (!parked) return
        state.counters.fallbackLost += 1
        left(state, tunnel, "registration-closed")
      },
      revoke: (token) => revoke(state, token),
      keepEnrolled: (token, dropped) => keepEnrolled(state, token, dropped),
      observe: (observer) => void state.observers.add(observer),
      watch: (watcher) => void state.watchers.add(watcher),
      awaitReturn: () => {
        state.cameUp.at = state.clock.currentTimeMillisUnsafe()
        state.cameUp.restored = new Set(state.routes.dump().map(({ token }) => token))
      },
      deliver: (token, target, header, attempts) => deliver(state, token, target, header, attempts),
      deliverNow: (token, target, header) => {
        const tunnel = state.tunnels.get(token)
        return tunnel && fromReady(tunnel, target, header)
      },
      deliverHere: (token, target, header, chosen) => {
        if (chosen === undefined) return deliver(state, token, target, header, undefined, "here")
        const tunnel = state.tunnels.get(token)
        const first =
          tunnel === undefined ? Effect.undefined : fromMux(state.counters, tunnel, [chosen], "mux", header, undefined)
        const others = deliver(state, token, target, header, { agents: new Set([chosen]), waitUntil: 0 }, "here")
        return Effect.flatMap(first, (delivered) => (delivered === undefined ? others : Effect.succeed(delivered)))
      }
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(Layer.provide([Counters.layer, Routes.layer]))
}
