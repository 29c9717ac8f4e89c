/**
 * An edge in a worker process: the public listeners and the services for connections, without those that an edge has once. It gets
 * its state from the main process, and reports its counters four times a second.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Mux } from "@catenet/wire/transport/Mux"
import { Clock, ConfigProvider, Effect, Layer, Queue, Schedule } from "effect"
import type { Socket } from "node:net"
import { LocalRoom } from "../channels/LocalRoom.ts"
import { ControlPlane } from "../control/ControlPlane.ts"
import { VisitorRouter } from "../frontdoor/VisitorRouter.ts"
import * as ConnectionLimiter from "../listen/ConnectionLimiter.ts"
import { descriptorLimit } from "../listen/FileDescriptors.ts"
import { ListenerHealth } from "../listen/ListenerHealth.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { drain } from "../orders/Drain.ts"
import { Orders } from "../orders/Orders.ts"
import * as TcpPorts from "../ports/TcpPorts.ts"
import * as UdpPorts from "../ports/UdpPorts.ts"
import { Relays } from "../relay/Relays.ts"
import type { RouteOrder } from "../routes/RouteOrder.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { MuxAgents } from "../sessions/MuxAgents.ts"
import { Settings } from "../settings/Settings.ts"
import * as ConnectionLayers from "./ConnectionLayers.ts"
import * as MainProcessServices from "./MainProcessServices.ts"
import { type FromMainProcess, ticketKeys } from "./MainProcessServices.ts"
import { MetricsDelta } from "./MetricsDelta.ts"
import * as PublicListeners from "./PublicListeners.ts"
import { dial, redialEvery } from "./SiblingDial.ts"
import { siblingLimits } from "./SiblingLimits.ts"
import * as SiblingLinks from "./SiblingLinks.ts"
import * as SiblingSocket from "./SiblingSocket.ts"
import * as SocketPaths from "./SocketPaths.ts"
import type { WorkerChannel } from "./WorkerChannel.ts"
import type { Init, ToMain, ToWorker } from "./WorkerMessages.ts"

/** Handles the messages of the main process, one after the other. */
const apply = (orders: Orders["Service"], report: Effect.Effect<void>, order: RouteOrder): Effect.Effect<void> => {
  switch (order._tag) {
    case "AuthorizeHost":
      return orders.authorize(
        order.hostname,
        {
          token: order.token,
          tier: order.tier,
          admissionUntil: order.admissionUntil ?? null,
          account: order.account
        },
        order.requireLogin
      )
    case "ReleaseHost":
      return orders.release(order.hostname, order.token)
    case "SetLogin":
      return orders.setLogin(order.token, order.required, order.revision)
    case "Revoke":
      return orders.revoke(order.token, order.successor)
    case "SetAgentKeys":
      return orders.setAgentKeys(order.token, order.keys, order.proof)
    case "SetPort":
      return orders.setPort(order.token, order.port)
    case "SetRules":
      return orders.setRules(order.token, order.rules, order.revision)
    case "SetOptions":
      return orders.setOptions(order.token, order.options, order.revision)
    case "CutMembers":
      return orders.cutMembers(order)
    case "Report":
      return report
    case "SetAccessPolicy":
      return orders.setPolicy(order.token, order.policy, order.revision)
  }
}

/** Applies the orders that came with `Init`. */
const applyAll = Effect.fn("WorkerEdge.applyAll")(function* (all: ReadonlyArray<RouteOrder>) {
  const orders = yield* Orders
  for (const order of all) yield* apply(orders, Effect.void, order)
})

/** Handles one message after `Init`; `drain` only starts the shutdown and does not wait for it. */
const makeWorkerCommands = Effect.fn("WorkerEdge.make")(function* (
  channel: WorkerChannel<ToMain, ToWorker>,
  main: FromMainProcess,
  { drain, report }: { readonly drain: Effect.Effect<void>; readonly report: Effect.Effect<void> }
) {
  const orders = yield* Orders
  return (message: ToWorker): Effect.Effect<void> => {
    switch (message._tag) {
      case "Apply": {
        const applied = Effect.sync(() => channel.send({ _tag: "Applied", id: message.id }))
        return Effect.andThen(apply(orders, report, message.order), applied)
      }
      case "LeafReplaced":
        return Effect.sync(() => main.leaf.replace(message.pair))
      case "PairReplaced":
        return Effect.sync(() => main.pairs.get(message.certificate)?.replace(message.pair))
      case "HostCertificatesChanged":
        return Effect.sync(() => main.hosts.give(message.changed))
      case "TicketKeysChanged":
        return Effect.sync(() => main.tickets.follow(ticketKeys(message.keys)))
      case "Ownership":
        return Effect.sync(() => main.ownershipAnswered(message.id, message.owns))
      case "Drain":
        return drain
      case "Init":
        return Effect.void
    }
  }
})

// A worker's link to the room of its edge: one session with the main process.

/** Keeps the link open while the scope is open. */
const openRoomLink = Effect.fn("WorkerEdge.open")(function* (path: string) {
  const room = yield* LocalRoom
  const { ending, report } = yield* ConnectionFaults

  const hold = (socket: Socket) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        guard(socket, ending(socket))
        return new Mux(socket, { side: "dialler", limits: siblingLimits, keepAlive: false, onFault: report })
      }),
      (session) =>
        Effect.promise(() => session.ready).pipe(
          Effect.andThen(Effect.sync(() => room.linked(session))),
          Effect.andThen(Effect.promise(() => session.closed))
        ),
      (session) =>
        Effect.sync(() => {
          room.linked(undefined)
          session.close("normal")
        })
    )

  yield* dial(path).pipe(
    Effect.flatMap(hold),
    Effect.ignore,
    Effect.repeat(Schedule.spaced(redialEvery)),
    retryForever("linking with the room of the main process"),
    Effect.forkScoped
  )
})

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
  const settings = yield* Settings
  const orders = yield* Orders
  const health = yield* ListenerHealth
  yield* applyAll(init.orders)
  const agents = yield* AgentSessions
  agents.awaitReturn()
  const closing = Effect.repeat(orders.closeWindows, Schedule.spaced("5 seconds"))
  yield* Effect.forkScoped(closing.pipe(retryForever("closing access windows")))
  const limiter = ConnectionLimiter.make(settings, descriptorLimit())
  yield* SiblingSocket.open(SocketPaths.socketPath(init.folder, init.index))
  yield* openRoomLink(SocketPaths.roomPath(init.folder))
  yield* SiblingLinks.open(SocketPaths.siblingPaths(init.folder, init.index, settings.processes))
  yield* health.expect(yield* PublicListeners.names)
  const listeners = yield* PublicListeners.open(limiter, "one-of-several")
  yield* TcpPorts.serve(limiter)
  yield* UdpPorts.serve
  const report = yield* reporter(limiter, main)
  const sendReport = Effect.map(report, (report) => channel.send({ _tag: "Reported", report }))
  // First, so that the edge is healthy when it reports that it is ready.
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
  const carry = yield* makeWorkerCommands(channel, main, { drain: leaving, report: sendReport })
  return yield* Effect.forever(Effect.flatMap(Queue.take(inbox), carry))
})

/** Starts the worker with its first message. Later messages wait in `inbox`. */
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
