/**
 * An edge as a worker runs it: the public listeners and all that serves connections, and nothing that an edge has once. It
 * has everything it knows from the main process, and tells it four times a second what it has counted.
 */
import { ConfigProvider, Effect, Layer, Queue, Schedule } from "effect"
import { ControlPlane } from "../control/ControlPlane.ts"
import { drain } from "../orders/Drain.ts"
import { Orders } from "../orders/Orders.ts"
import { Visits } from "../frontdoor/VisitorRouter.ts"
import { descriptorLimit } from "../listen/Descriptors.ts"
import * as Gate from "../listen/ConnectionLimiter.ts"
import { Counters } from "../observe/Counters.ts"
import { Health } from "../listen/ListenerHealth.ts"
import { parts } from "./ConnectionLayers.ts"
import * as PublicListeners from "./PublicListeners.ts"
import { Relays } from "../relay/Relays.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { MuxAgents } from "../sessions/MuxAgents.ts"
import { Settings } from "../settings/Settings.ts"
import * as Carrying from "./WorkerCommands.ts"
import * as Doors from "./SocketPaths.ts"
import type { Ipc } from "./WorkerChannel.ts"
import { Ledger } from "./StatDeltas.ts"
import type { Begin, ToMain, ToWorker } from "./Message.ts"
import * as SiblingDoor from "./SiblingSocket.ts"
import * as SiblingLinks from "./SiblingLinks.ts"
import * as Told from "./MainProcessServices.ts"

const REPORT_EVERY = "250 millis"

const reporter = Effect.fn("WorkerEdge.reporter")(function* (gate: Gate.Gate, told: Told.ToldShape) {
  const counters = yield* Counters
  const agents = yield* AgentSessions
  const muxAgents = yield* MuxAgents
  const visits = yield* Visits
  const relays = yield* Relays
  const { stalled } = yield* Health
  const ledger = new Ledger({ counters, agents, gate, audit: told.audit })
  return Effect.map(stalled, (stalled) => ({
    ...ledger.take(),
    agentConnections: muxAgents.open(),
    visitors: visits.open(),
    connections: gate.open(),
    relays: relays.active(),
    stalled
  }))
})

/** Serves until the scope closes. */
const serve = Effect.fn("WorkerEdge.serve")(function* (
  ipc: Ipc<ToMain, ToWorker>,
  inbox: Queue.Dequeue<ToWorker>,
  begin: Begin,
  told: Told.ToldShape
) {
  const { caps, processes } = yield* Settings
  const orders = yield* Orders
  const health = yield* Health
  yield* Carrying.applyAll(begin.orders)
  const agents = yield* AgentSessions
  agents.awaitReturn()
  yield* Effect.forkScoped(Effect.repeat(orders.closeWindows, Schedule.spaced("5 seconds")))
  const gate = Gate.make(caps, descriptorLimit())
  yield* SiblingDoor.open(Doors.door(begin.folder, begin.index))
  yield* SiblingLinks.open(Doors.others(begin.folder, begin.index, processes))
  yield* health.expect(yield* PublicListeners.names)
  const listeners = yield* PublicListeners.open(gate, "one-of-several")
  const report = yield* reporter(gate, told)
  const tell = Effect.map(report, (report) => ipc.send({ _tag: "Reported", report }))
  // Before all else, so that the edge is well when it says that it is ready.
  yield* tell
  ipc.send({ _tag: "Ready" })
  yield* Effect.forkScoped(tell.pipe(Effect.delay(REPORT_EVERY), Effect.repeat(Schedule.forever)))
  const leave = drain(listeners).pipe(
    Effect.andThen(tell),
    Effect.andThen(Effect.sync(() => ipc.send({ _tag: "Drained" })))
  )
  const services = yield* Effect.context<Effect.Services<typeof leave>>()
  const scope = yield* Effect.scope
  const leaving = Effect.asVoid(Effect.forkIn(Effect.provideContext(leave, services), scope))
  const carry = yield* Carrying.make(ipc, told, { drain: leaving, report: tell })
  return yield* Effect.forever(Effect.flatMap(Queue.take(inbox), carry))
})

/** Runs the worker that was greeted so. Messages after the greeting wait in `inbox`. */
export const run = (ipc: Ipc<ToMain, ToWorker>, inbox: Queue.Dequeue<ToWorker>, begin: Begin) => {
  const told = Told.make(ipc, begin)
  return Effect.scoped(serve(ipc, inbox, begin, told)).pipe(
    Effect.provide(
      parts.pipe(
        Layer.provideMerge(Layer.merge(ControlPlane.layerUnsigned, Told.layer(told))),
        Layer.provideMerge(Settings.layer),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(begin.variables)))
      )
    )
  )
}
