/**
 * Supervises the worker processes of this edge: starts and initializes them, sends them every order, restarts them when they end,
 * and kills them when they are silent.
 */
import { type Address, formatAddress } from "@catenet/platform/NetworkParser"
import { retryForever } from "@catenet/platform/RetryForever"
import { Clock, Deferred, Effect, FiberSet, Redacted, References, Schedule } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import type { ConnectionLimiter } from "../listen/ConnectionLimiter.ts"
import { ListenerHealth } from "../listen/ListenerHealth.ts"
import * as Counters from "../observe/Counters.ts"
import { Routes } from "../routes/Routes.ts"
import { WorkerBroadcast } from "../routes/WorkerBroadcast.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { ProcessIdentity } from "../sessions/ProcessIdentity.ts"
import { TunnelOwnership } from "../sessions/TunnelOwnership.ts"
import { Settings } from "../settings/Settings.ts"
import { CertificateFiles } from "../tls/CertificateFiles.ts"
import type { Pair } from "../tls/CertificateSource.ts"
import { HostCertificates } from "../tls/HostCertificates.ts"
import { SessionTickets } from "../tls/SessionTickets.ts"
import { WorkerHandle } from "./WorkerHandle.ts"
import type { ToMain, ToWorker, WorkerReport } from "./WorkerMessages.ts"
import { WorkerStats } from "./WorkerStats.ts"

// Builds the first message to a worker: the whole state. Later changes of certificates and ticket keys are sent too.

/** Public listeners by the variable of their address. */
type Addresses = ReadonlyMap<string, Address>

/** `send` gets every replaced certificate, and all ticket keys at each change. */
const makeWorkerInit = Effect.fn("Workers.make")(function* (
  folder: string,
  addresses: Addresses,
  send: (message: ToWorker) => void
) {
  const { given } = yield* Settings
  const { leaf, root } = yield* CertificateAuthority
  const { followed } = yield* CertificateFiles
  const held = yield* HostCertificates
  const tickets = yield* SessionTickets
  const routes = yield* Routes
  const { edgeProcess } = yield* ProcessIdentity
  const edge = Buffer.from(edgeProcess?.edge ?? []).toString("hex")
  const logLevel = yield* References.MinimumLogLevel
  const bound = Object.fromEntries(Array.from(addresses, ([name, address]) => [name, formatAddress(address)]))
  const variables = { ...(given === undefined ? {} : Redacted.value(given)), ...bound }

  leaf.onReplaced((pair: Pair) => send({ _tag: "LeafReplaced", pair }))
  for (const [certificate, source] of followed)
    source.onReplaced((pair) => send({ _tag: "PairReplaced", certificate, pair }))

  held?.onChanged((changed) => send({ _tag: "HostCertificatesChanged", changed }))
  tickets.onChanged(() => send({ _tag: "TicketKeysChanged", keys: tickets.contents }))

  return (index: number) => ({
    _tag: "Init" as const,
    variables,
    index,
    edge,
    folder,
    logLevel,
    root: root.toString("base64"),
    leaf: leaf.current,
    pairs: Array.from(followed, ([certificate, source]) => [certificate, source.current] as const),
    hosts: held?.contents ?? [],
    ticketKeys: tickets.contents,
    orders: routes.orders()
  })
})

/** Adds a worker's report to the counters of the main process, which are those of the whole edge. */
const makeMetricsAggregator = Effect.fnUntraced(function* (limiter: ConnectionLimiter) {
  const counters = yield* Counters.Counters
  const agents = yield* AgentSessions
  const audit = yield* AuditLog
  const workerStats = yield* WorkerStats
  return (worker: number, report: WorkerReport): void => {
    Counters.add(counters, report.counted)
    for (const [token, fromVisitors, toVisitors, visits] of report.traffic) {
      const tunnel = agents.ensure(token)
      tunnel.traffic.aToB += fromVisitors
      tunnel.traffic.bToA += toVisitors
      tunnel.visits += visits
    }
    for (const [listener, reason, count] of report.sheds) limiter.shed(listener, reason, count)
    audit.write(report.audit)
    workerStats.note(worker, report)
  }
})

const firstPause = 100
const longestPause = 5_000
/** A worker that has run this long is restarted with the first pause again. */
const steadyMillis = 10_000
/** A worker reports four times a second. */
const silenceMillis = 10_000
const startMillis = 30_000

interface Worker {
  readonly handle: WorkerHandle
  /** Done when the worker has drained or ended. */
  readonly drained: Deferred.Deferred<void>
}

/** The name of a worker among the listeners of `ListenerHealth`. */
const workerName = (index: number): string => `process ${index}`

const makeState = Effect.fnUntraced(function* (limiter: ConnectionLimiter, folder: string, addresses: Addresses) {
  const { processes, shutdownGraceSeconds } = yield* Settings
  const workers = new Map<number, Worker>()
  return {
    shutdownGraceSeconds,
    broadcast: yield* WorkerBroadcast,
    workerStats: yield* WorkerStats,
    health: yield* ListenerHealth,
    keys: yield* TunnelOwnership,
    clock: yield* Clock.Clock,
    aggregate: yield* makeMetricsAggregator(limiter),
    run: yield* FiberSet.makeRuntime<never>(),
    workers,
    init: yield* makeWorkerInit(folder, addresses, (message) => {
      for (const { handle } of workers.values()) handle.send(message)
    }),
    leaving: false,
    processes
  }
})
type State = Effect.Success<ReturnType<typeof makeState>>

const runOnce = Effect.fnUntraced(function* (state: State, index: number, ready: Deferred.Deferred<void>) {
  const handle = yield* Effect.acquireRelease(
    Effect.sync(() => new WorkerHandle()),
    ({ end }) => end
  )
  const drained = yield* Deferred.make<void>()
  let lastReportAt = state.clock.currentTimeMillisUnsafe() + startMillis - silenceMillis
  const take = (message: ToMain) => {
    switch (message._tag) {
      case "Reported":
        lastReportAt = state.clock.currentTimeMillisUnsafe()
        state.aggregate(index, message.report)
        if (message.report.stalled.length > 0) return state.health.lost(workerName(index))
        return state.run(state.health.found(workerName(index), "accepts"))
      case "AskOwnership": {
        const { id, key, token } = message
        return void Promise.resolve(state.keys.owns(token, key)).then((owns) =>
          handle.send({ _tag: "Ownership", id, owns })
        )
      }
      case "OwnerSeen":
        return state.keys.seen(message.token)
      case "Log":
        return state.run(
          Effect.logWithLevel(message.level)(message.message).pipe(
            Effect.annotateLogs({ ...message.fields, process: index })
          )
        )
      case "Ready":
        return Deferred.doneUnsafe(ready, Effect.void)
      case "Drained":
        return Deferred.doneUnsafe(drained, Effect.void)
    }
  }
  handle.listen(() => state.init(index), take)
  const leave = state.broadcast.subscribe((order) => handle.apply(order))
  state.workers.set(index, { handle, drained })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      leave()
      state.workers.delete(index)
      state.workerStats.forget(index)
      state.health.lost(workerName(index))
      Deferred.doneUnsafe(drained, Effect.void)
    })
  )
  const silence = Effect.suspend(() =>
    state.clock.currentTimeMillisUnsafe() - lastReportAt < silenceMillis
      ? Effect.void
      : handle.kill("it has fallen silent")
  )
  const watching = Effect.repeat(silence, Schedule.spaced("1 second"))
  yield* Effect.forkScoped(watching.pipe(retryForever("watching a process")))
  return yield* handle.ended
})

const keep = Effect.fnUntraced(function* (state: State, index: number, ready: Deferred.Deferred<void>) {
  let pause = firstPause
  for (;;) {
    if (state.leaving) return
    const from = state.clock.currentTimeMillisUnsafe()
    const how = yield* Effect.scoped(runOnce(state, index, ready))
    if (state.leaving) return
    pause = state.clock.currentTimeMillisUnsafe() - from > steadyMillis ? firstPause : Math.min(pause * 2, longestPause)
    yield* Effect.logError("a process of this edge has ended; it is started again").pipe(
      Effect.annotateLogs({ process: index, how, pause })
    )
    yield* Effect.sleep(pause)
  }
})

const leave = ({ drained, handle }: Worker) => Effect.andThen(handle.drain, Deferred.await(drained))

const drain = (state: State) =>
  Effect.suspend(() => {
    state.leaving = true
    return Effect.forEach(Array.from(state.workers.values()), leave, { concurrency: "unbounded", discard: true })
  }).pipe(Effect.timeoutOrElse({ duration: (state.shutdownGraceSeconds + 5) * 1_000, orElse: () => Effect.void }))

/**
 * Starts all workers and returns when each is listening or its time is over. `drain` shuts them down gracefully and returns when
 * they are done; they end with the scope in any case.
 */
export const start = Effect.fn("Workers.start")(function* (
  limiter: ConnectionLimiter,
  folder: string,
  addresses: Addresses
) {
  const state = yield* makeState(limiter, folder, addresses)
  const indices = Array.from({ length: state.processes - 1 }, (_, each) => each + 1)
  yield* state.health.expect(indices.map(workerName))
  const starting = yield* Effect.forEach(indices, (index) =>
    Effect.gen(function* () {
      const ready = yield* Deferred.make<void>()
      yield* Effect.forkScoped(keep(state, index, ready))
      return ready
    })
  )
  yield* Effect.forEach(starting, (ready) => Deferred.await(ready), { concurrency: "unbounded", discard: true }).pipe(
    Effect.timeoutOrElse({
      duration: startMillis,
      orElse: () => Effect.logError("not every process of this edge has started; those that have serve")
    })
  )
  return { drain: drain(state) }
})
