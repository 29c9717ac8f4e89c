/**
 * The edge as a whole: what it is made of, in which order it comes up, and how it leaves. Metrics first, then the state
 * from the control plane, then the admin API, and the public listeners last.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Context, Effect, Layer, Schedule } from "effect"
import * as AdminRoutes from "./admin/AdminRoutes.ts"
import { CertificateAuthority } from "./ca/CertificateAuthority.ts"
import { ControlPlane } from "./control/ControlPlane.ts"
import { drain } from "./control/Drain.ts"
import { heartbeats } from "./control/Heartbeats.ts"
import { Orders } from "./control/Orders.ts"
import { rehydrate } from "./control/Rehydrate.ts"
import { FrontDoor } from "./frontdoor/FrontDoor.ts"
import { PlatformHosts } from "./frontdoor/PlatformHosts.ts"
import * as Redirect from "./frontdoor/Redirect.ts"
import { Visits } from "./frontdoor/Visits.ts"
import { Books } from "./history/Books.ts"
import { Store } from "./history/Store.ts"
import { descriptorLimit } from "./listen/Descriptors.ts"
import * as Gate from "./listen/Gate.ts"
import * as HttpListener from "./listen/HttpListener.ts"
import * as Listener from "./listen/Listener.ts"
import { GelbVisits } from "./gelb/GelbVisits.ts"
import { MeshClients } from "./mesh/MeshClients.ts"
import { PeerEdges } from "./mesh/PeerEdges.ts"
import { PeerVisitors } from "./mesh/PeerVisitors.ts"
import { AuditLog } from "./observe/AuditLog.ts"
import { Counters } from "./observe/Counters.ts"
import type { Sources } from "./observe/Exposition.ts"
import { Health } from "./observe/Health.ts"
import * as MetricsRoutes from "./observe/MetricsRoutes.ts"
import { Relays } from "./relay/Relays.ts"
import { Routes } from "./Routes.ts"
import { Admissions } from "./sessions/Admissions.ts"
import { AgentKeys } from "./sessions/AgentKeys.ts"
import { AgentSessions } from "./sessions/AgentSessions.ts"
import { ByteAgents } from "./sessions/ByteAgents.ts"
import { MuxAgents } from "./sessions/MuxAgents.ts"
import { type Address, format } from "./settings/Address.ts"
import { Settings } from "./Settings.ts"

/** The addresses that were bound, with real ports. */
export interface Bound {
  readonly mesh: Address
  readonly frontDoor: Address | undefined
  readonly browser: Address | undefined
  readonly httpRedirect: Address | undefined
  readonly admin: Address | undefined
  readonly metrics: Address | undefined
}

type Pending = Omit<Listener.ListenerOptions, "address" | "gate"> & { readonly address: Address | undefined }

const openPublic = Effect.fn("Edge.openPublic")(function* (gate: Gate.Gate) {
  const settings = yield* Settings
  const door = yield* FrontDoor
  const health = yield* Health
  const pending: ReadonlyArray<Pending> = [
    { name: "mesh", variable: "CT_EDGE_LISTEN", address: settings.mesh, onConnection: door.receiveMesh },
    { name: "front-door", variable: "CT_FRONT_DOOR", address: settings.frontDoor, onConnection: door.receive },
    {
      name: "browser",
      variable: "CT_EDGE_BROWSER_LISTEN",
      address: settings.browser,
      onConnection: door.receiveVisitor
    },
    {
      name: "http-redirect",
      variable: "CT_EDGE_HTTP_REDIRECT",
      address: settings.httpRedirect,
      onConnection: Redirect.receive
    }
  ]
  const wanted = pending.flatMap(({ address, ...rest }) => (address === undefined ? [] : [{ ...rest, address, gate }]))
  const listeners = yield* Effect.forEach(wanted, Listener.listen)
  yield* Effect.forEach(listeners, (listener) => Effect.forkScoped(health.watch(listener)))
  return listeners
})

const expectedListeners = Effect.gen(function* () {
  const { browser, frontDoor, httpRedirect } = yield* Settings
  return [
    "mesh",
    ...(frontDoor === undefined ? [] : ["front-door"]),
    ...(browser === undefined ? [] : ["browser"]),
    ...(httpRedirect === undefined ? [] : ["http-redirect"])
  ]
})

const sources = Effect.fn("Edge.sources")(function* (gate: Gate.Gate, names: ReadonlyArray<string>) {
  const visits = yield* Visits
  const result: Sources = {
    counters: yield* Counters,
    agents: yield* AgentSessions,
    byteAgents: yield* ByteAgents,
    muxAgents: yield* MuxAgents,
    relays: yield* Relays,
    gate,
    visitors: visits.open,
    listeners: names.map((name) => ({ name })),
    lastAccepted: (yield* Health).lastAccepted,
    expectedSince: (yield* Health).expectedSince
  }
  return result
})

const joinControlPlane = Effect.gen(function* () {
  const { client } = yield* ControlPlane
  if (client === undefined) return
  yield* rehydrate(client)
  yield* Effect.forkScoped(heartbeats(client))
})

const boot = Effect.gen(function* () {
  const settings = yield* Settings
  const health = yield* Health
  const orders = yield* Orders
  const gate = Gate.make(settings.caps, descriptorLimit())
  const names = yield* expectedListeners
  yield* health.expect(names)
  const metrics =
    settings.metrics === undefined
      ? undefined
      : yield* HttpListener.serve(
          "CT_EDGE_METRICS_LISTEN",
          settings.metrics,
          MetricsRoutes.routes(yield* sources(gate, names))
        )
  yield* joinControlPlane
  yield* Effect.forkScoped(Effect.repeat(orders.closeWindows, Schedule.spaced("5 seconds")))
  const admin =
    settings.admin === undefined || settings.adminToken === undefined
      ? undefined
      : yield* HttpListener.serve("CT_EDGE_ADMIN_LISTEN", settings.admin, AdminRoutes.routes(settings.adminToken))
  const listeners = yield* openPublic(gate)
  yield* Effect.addFinalizer(() => drain(listeners))
  const at = (name: string) => listeners.find((listener) => listener.name === name)?.address
  const bound: Bound = {
    mesh: at("mesh") ?? settings.mesh,
    frontDoor: at("front-door"),
    browser: at("browser"),
    httpRedirect: at("http-redirect"),
    admin,
    metrics
  }
  yield* announce(bound)
  return bound
})

/** One line a supervisor can read the addresses from. */
const announce = (bound: Bound) =>
  Effect.logInfo("edge ready").pipe(
    Effect.annotateLogs(
      Object.fromEntries(
        Object.entries(bound).flatMap(([name, address]: readonly [string, Address | undefined]) =>
          address === undefined ? [] : [[name, format(address)]]
        )
      )
    )
  )

const parts = Layer.mergeAll(FrontDoor.layer, Orders.layer, Books.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(MuxAgents.layer, ByteAgents.layer, PlatformHosts.layer)),
  Layer.provideMerge(PeerVisitors.layer),
  Layer.provideMerge(Visits.layer),
  Layer.provideMerge(Layer.mergeAll(MeshClients.layer, GelbVisits.layer, PeerEdges.layer)),
  Layer.provideMerge(Layer.mergeAll(AgentSessions.layer, Admissions.layer, Relays.layer)),
  Layer.provideMerge(AgentKeys.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      Store.layer,
      AuditLog.layer,
      Routes.layer,
      Counters.layer,
      Health.layer,
      CertificateAuthority.layer,
      ControlPlane.layer
    )
  )
)

/** A running edge. It is up when the layer is built, and drains when its scope closes. */
export class Edge extends Context.Service<Edge, Bound>()("edge/Edge") {
  /** Takes its settings from the caller: tests and the all-in-one stack. */
  static readonly layerNoDeps = Layer.effect(Edge, boot).pipe(
    Layer.provide(parts),
    Layer.provide([NodeFileSystem.layer, NodePath.layer])
  )
  /** Takes its settings from the environment. */
  static readonly layer = Edge.layerNoDeps.pipe(Layer.provide(Settings.layer))
}
