/**
 * The whole edge: its parts, the order in which they start, and shutdown. Metrics start first, then the state from the control
 * plane, then the admin API, and the public listeners last.
 */
import { Entropy } from "@catenet/platform/Entropy"
import { type Address, formatAddress } from "@catenet/platform/NetworkParser"
import { retryForever } from "@catenet/platform/RetryForever"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Context, Effect, Layer, Schedule } from "effect"
import * as AdminRoutes from "./admin/AdminRoutes.ts"
import { AuditLog } from "./audit/AuditLog.ts"
import { CertificateAuthority } from "./ca/CertificateAuthority.ts"
import { ChannelPlacement } from "./channels/ChannelPlacement.ts"
import { ChannelRoom } from "./channels/ChannelRoom.ts"
import { MemberAdmissions } from "./channels/MemberAdmissions.ts"
import { WebSocketMembers } from "./channels/WebSocketMembers.ts"
import { ControlPlane } from "./control/ControlPlane.ts"
import * as ProxyPairing from "./frontdoor/ProxyPairing.ts"
import { SlotProtocol } from "./frontdoor/SlotProtocol.ts"
import { VisitorRouter } from "./frontdoor/VisitorRouter.ts"
import { SessionHistory } from "./history/SessionHistory.ts"
import * as ConnectionLimiter from "./listen/ConnectionLimiter.ts"
import { descriptorLimit } from "./listen/FileDescriptors.ts"
import * as HttpListener from "./listen/HttpListener.ts"
import { ListenerHealth } from "./listen/ListenerHealth.ts"
import { QuicPorts } from "./listen/QuicPorts.ts"
import type { Sources } from "./metrics/EdgeMetrics.ts"
import * as MetricsEndpoint from "./metrics/MetricsEndpoint.ts"
import { Counters } from "./observe/Counters.ts"
import * as CertificateUpdates from "./orders/CertificateUpdates.ts"
import { drain } from "./orders/Drain.ts"
import { heartbeats } from "./orders/Heartbeats.ts"
import { Orders } from "./orders/Orders.ts"
import * as PresenceReports from "./orders/PresenceReports.ts"
import { rehydrate } from "./orders/Rehydrate.ts"
import * as TicketKeyUpdates from "./orders/TicketKeyUpdates.ts"
import * as TcpPorts from "./ports/TcpPorts.ts"
import * as UdpPorts from "./ports/UdpPorts.ts"
import * as ConnectionLayers from "./processes/ConnectionLayers.ts"
import * as PublicListeners from "./processes/PublicListeners.ts"
import * as RoomSocket from "./processes/RoomSocket.ts"
import * as SiblingLinks from "./processes/SiblingLinks.ts"
import * as SiblingSocket from "./processes/SiblingSocket.ts"
import * as SocketPaths from "./processes/SocketPaths.ts"
import * as Workers from "./processes/Workers.ts"
import { WorkerStats } from "./processes/WorkerStats.ts"
import * as QuicListener from "./quic/QuicListener.ts"
import { Relays } from "./relay/Relays.ts"
import { AgentSessions } from "./sessions/AgentSessions.ts"
import { MuxAgents } from "./sessions/MuxAgents.ts"
import { OriginEchoes } from "./sessions/OriginEchoes.ts"
import { ProcessIdentity } from "./sessions/ProcessIdentity.ts"
import { TunnelOwnership } from "./sessions/TunnelOwnership.ts"
import { Settings } from "./settings/Settings.ts"
import { HistoryDatabase } from "./sqlite/HistoryDatabase.ts"
import { CertificateFiles } from "./tls/CertificateFiles.ts"
import { HostCertificates } from "./tls/HostCertificates.ts"
import { SessionTickets } from "./tls/SessionTickets.ts"

/** The addresses that were bound, with real ports. */
export interface Bound {
  readonly mesh: Address
  readonly frontDoor: Address | undefined
  readonly browser: Address | undefined
  readonly httpRedirect: Address | undefined
  readonly channelBroker: Address | undefined
  readonly channelRelay: Address | undefined
  readonly channelWebSocket: Address | undefined
  readonly admin: Address | undefined
  readonly metrics: Address | undefined
}

const sources = Effect.fn("Edge.sources")(function* (
  limiter: ConnectionLimiter.ConnectionLimiter,
  names: ReadonlyArray<string>
) {
  const visitorRouter = yield* VisitorRouter
  const result: Sources = {
    counters: yield* Counters,
    agents: yield* AgentSessions,
    slotProtocol: yield* SlotProtocol,
    muxAgents: yield* MuxAgents,
    relays: yield* Relays,
    admissions: yield* MemberAdmissions,
    homes: yield* ChannelPlacement,
    room: yield* ChannelRoom,
    webSockets: yield* WebSocketMembers,
    echoes: yield* OriginEchoes,
    limiter,
    workerStats: yield* WorkerStats,
    visitors: visitorRouter.open,
    listeners: names.map((name) => ({ name })),
    lastAccepted: (yield* ListenerHealth).lastAccepted,
    expectedSince: (yield* ListenerHealth).expectedSince
  }
  return result
})

/**
 * Announces the edge to the control plane before the edge restores its state: from then on the control plane writes orders for it,
 * so that no change is missed between the restored state and the first order. The returned effect runs once the edge accepts
 * orders.
 */
const joinControlPlane = Effect.gen(function* () {
  const { client, seed } = yield* ControlPlane
  if (client === undefined || seed === undefined) return Effect.void
  const presence = yield* PresenceReports.make(client)
  const { during, run } = yield* heartbeats(client, presence.begin)
  const health = yield* ListenerHealth
  yield* health.restoring(during(rehydrate(client, "at the start")))
  yield* ProxyPairing.check
  const agents = yield* AgentSessions
  agents.awaitReturn()
  yield* Effect.forkScoped(yield* TicketKeyUpdates.updates(client, seed))
  yield* Effect.forkScoped(yield* CertificateUpdates.updates(client, seed))
  return Effect.gen(function* () {
    yield* presence.begin
    yield* Effect.forkScoped(Effect.all([run, presence.run], { concurrency: 2, discard: true }))
  })
})

const openAlone = Effect.fn("Edge.openAlone")(function* (limiter: ConnectionLimiter.ConnectionLimiter) {
  const listeners = yield* PublicListeners.open(limiter, "no")
  return { listeners, drain: drain(listeners) }
})

/** Opens the listeners for several processes, and starts the others. */
const openTogether = Effect.fn("Edge.openTogether")(function* (limiter: ConnectionLimiter.ConnectionLimiter) {
  const { processes } = yield* Settings
  const folder = yield* SocketPaths.folder
  yield* SiblingSocket.open(SocketPaths.socketPath(folder, 0))
  yield* RoomSocket.open(SocketPaths.roomPath(folder))
  yield* SiblingLinks.open(SocketPaths.siblingPaths(folder, 0, processes))
  const listeners = yield* PublicListeners.open(limiter, "first")
  const addresses = new Map(listeners.map(({ address, variable }) => [variable, address] as const))
  const workers = yield* Workers.start(limiter, folder, addresses)
  return { listeners, drain: Effect.all([drain(listeners), workers.drain], { concurrency: 2 }) }
})

const boot = Effect.gen(function* () {
  const settings = yield* Settings
  const health = yield* ListenerHealth
  const orders = yield* Orders
  const limiter = ConnectionLimiter.make(settings, descriptorLimit())
  const names = yield* PublicListeners.names
  yield* health.expect(names)
  const metrics =
    settings.metrics === undefined
      ? undefined
      : yield* HttpListener.serve(
          "CT_EDGE_METRICS_LISTEN",
          settings.metrics,
          MetricsEndpoint.routes(yield* sources(limiter, names))
        )
  const stayJoined = yield* joinControlPlane
  const closing = Effect.repeat(orders.closeWindows, Schedule.spaced("5 seconds"))
  yield* Effect.forkScoped(closing.pipe(retryForever("closing access windows")))
  const admin =
    settings.admin === undefined || settings.adminToken === undefined
      ? undefined
      : yield* HttpListener.serve("CT_EDGE_ADMIN_LISTEN", settings.admin, AdminRoutes.routes(settings.adminToken))
  const { drain, listeners } = yield* settings.processes === 1 ? openAlone(limiter) : openTogether(limiter)
  yield* Effect.addFinalizer(() => drain)
  yield* TcpPorts.serve(limiter)
  yield* UdpPorts.serve
  yield* QuicListener.open(listeners, limiter)
  const delay = Effect.andThen(Effect.sync(health.leave), Effect.sleep(`${settings.drainDelaySeconds} seconds`))
  yield* Effect.addFinalizer(() => delay)
  const at = (name: string) => listeners.find((listener) => listener.name === name)?.address
  const bound: Bound = {
    mesh: at("mesh") ?? settings.mesh,
    frontDoor: at("front-door"),
    browser: at("browser"),
    httpRedirect: at("http-redirect"),
    channelBroker: at("channel-broker"),
    channelRelay: at("channel-relay"),
    channelWebSocket: at("channel-ws"),
    admin,
    metrics
  }
  yield* stayJoined
  yield* announce(bound)
  return bound
})

/** One line with the addresses, for a supervisor. */
const announce = (bound: Bound) =>
  Effect.logInfo("edge ready").pipe(
    Effect.annotateLogs(
      Object.fromEntries(
        Object.entries(bound).flatMap(([name, address]: readonly [string, Address | undefined]) =>
          address === undefined ? [] : [[name, formatAddress(address)]]
        )
      )
    )
  )

const processIdentity = Layer.effect(
  ProcessIdentity,
  Effect.map(Settings, ({ processes }) => ({
    edgeProcess: processes === 1 ? undefined : { edge: Entropy.randomBytes(8), process: 0, processes }
  }))
)

const edge = Layer.merge(SessionHistory.layer, OriginEchoes.layer).pipe(
  Layer.provideMerge(ConnectionLayers.layer),
  Layer.provideMerge(TunnelOwnership.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      HistoryDatabase.layer,
      AuditLog.layer,
      CertificateAuthority.layer,
      ControlPlane.layer,
      CertificateFiles.layer,
      HostCertificates.layer,
      processIdentity,
      QuicPorts.layer,
      SessionTickets.layer,
      WorkerStats.layer
    )
  )
)

/** A running edge. It is up when the layer is built, and drains when its scope closes. */
export class Edge extends Context.Service<Edge, Bound>()("edge/Edge") {
  /** Takes its settings from the caller: tests and the all-in-one stack. */
  static readonly layerNoDeps = Layer.effect(Edge, boot).pipe(
    Layer.provide(edge),
    Layer.provide([NodeFileSystem.layer, NodePath.layer])
  )
  /** Takes its settings from the environment. */
  static readonly layer = this.layerNoDeps.pipe(Layer.provide(Settings.layer))
}
