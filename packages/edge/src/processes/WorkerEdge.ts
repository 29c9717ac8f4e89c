/**
 * An edge as a worker runs it: the public listeners and all that serves connections, and nothing that an edge has once. It
 * gets everything it knows from the main process, and reports four times a second what it has counted.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { Clock, ConfigProvider, Effect, Layer, Queue, Schedule } from "effect"
import { ControlPlane } from "../control/ControlPlane.ts"
import { VisitorRouter } from "../frontdoor/VisitorRouter.ts"
import * as ConnectionLimiter from "../listen/ConnectionLimiter.ts"
import { descriptorLimit } from "../listen/FileDescriptors.ts"
import { ListenerHealth } from "../listen/ListenerHealth.ts"
import { Counters } from "../observe/Counters.ts"
import { drain } from "../orders/Drain.ts"
import { Orders } from "../orders/Orders.ts"
import { Relays } from "../relay/Relays.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { MuxAgents } from "../sessions/MuxAgents.ts"
import { Settings } from "../settings/Settings.ts"
import * as ConnectionLayers from "./ConnectionLayers.ts"
import * as MainProcessServices from "./MainProcessServices.ts"
import { MetricsDelta } from "./MetricsDelta.ts"
import * as PublicListeners from "./PublicListeners.ts"
import * as RoomLink from "./RoomLink.ts"
import * as SiblingLinks from "./SiblingLinks.ts"
import * as SiblingSocket from "./SiblingSocket.ts"
import * as SocketPaths from "./SocketPaths.ts"
import type { WorkerChannel } from "./WorkerChannel.ts"
import * as WorkerCommands from "./WorkerCommands.ts"
import type { Init, ToMain, ToWorker } from "./WorkerMessages.ts"

const reportEvery = "250 millis"

const reporter = Effect.fn("WorkerEdge.reporter")(function* (
  limiter: ConnectionLimiter.ConnectionLimiter,
  main: MainProcessServices.FromMainProcess
) {
  const counters = yield* Counters
  const agents = yield* AgentSessions
  const muxAgents = yield* MuxAgents
  const visitorRouter = yield* VisitorRouter
  const relays = yield* Relays
  const { stalled } = yield* ListenerHealth
  const deltas = new MetricsDelta({ counters, agents, limiter, audit: main.audit })
  return Effect.map(stalled, (stalled) => ({
    ...deltas.take(),
    agentConnections: muxAgents.open(),
    visitors: visitorRouter.open(),
    connections: limiter.open(),
    relays: relays.active(),
    stalled
  }))
})

/** Serves until the scope closes. */
const serve = Effect.fn("WorkerEdge.serve")(function* (
  channel: WorkerChannel<ToMain, ToWorker>,
  inbox: Queue.Dequeue<ToWorker>,
  init: Init,
  main: MainProcessServices.FromMainProcess
) {
  const { caps, processes } = yield* Settings
  const orders = yield* Orders
  const health = yield* ListenerHealth
  yield* WorkerCommands.applyAll(init.orders)
  const agents = yield* AgentSessions
  agents.awaitReturn()
  const closing = Effect.repeat(orders.closeWindows, Schedule.spaced("5 seconds"))
  yield* Effect.forkScoped(closing.pipe(retryForever("closing access windows")))
  const limiter = ConnectionLimiter.make(caps, descriptorLimit())
  yield* SiblingSocket.open(SocketPaths.socketPath(init.folder, init.index))
  yield* RoomLink.open(SocketPaths.roomPath(init.folder))
  yield* SiblingLinks.open(SocketPaths.siblingPaths(init.folder, init.index, processes))
  yield* health.expect(yield* PublicListeners.names)
  const listeners = yield* PublicListeners.open(limiter, "one-of-several")
  const report = yield* reporter(limiter, main)
  const sendReport = Effect.map(report, (report) => channel.send({ _tag: "Reported", report }))
  // Before all else, so that the edge is well when it says that it is ready.
  yield* sendReport
  channel.send({ _tag: "Ready" })
  const reporting = sendReport.pipe(Effect.delay(reportEvery), Effect.repeat(Schedule.forever))
  yield* Effect.forkScoped(reporting.pipe(retryForever("reporting to the main process")))
  const leave = drain(listeners).pipe(
    Effect.andThen(sendReport),
    Effect.andThen(Effect.sync(() => channel.send({ _tag: "Drained" })))
  )
  const services = yield* Effect.context<Effect.Services<typeof leave>>()
  const scope = yield* Effect.scope
  const leaving = Effect.asVoid(Effect.forkIn(Effect.provideContext(leave, services), scope))
  const carry = yield* WorkerCommands.make(channel, main, { drain: leaving, report: sendReport })
  return yield* Effect.forever(Effect.flatMap(Queue.take(inbox), carry))
})

/** Runs the worker by its first message. Later messages wait in `inbox`. */
export const run = Effect.fn("WorkerEdge.run")(function* (
  channel: WorkerChannel<ToMain, ToWorker>,
  inbox: Queue.Dequeue<ToWorker>,
  init: Init
) {
  const clock = yield* Clock.Clock
  const main = MainProcessServices.make(channel, init, () => clock.currentTimeMillisUnsafe())
  return yield* Effect.scoped(serve(channel, inbox, init, main)).pipe(
    Effect.provide(
      ConnectionLayers.layer.pipe(
        Layer.provideMerge(Layer.merge(ControlPlane.layerUnsigned, MainProcessServices.layer(main))),
        Layer.provideMerge(Settings.layer),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(init.variables)))
      )
    )
  )
})
