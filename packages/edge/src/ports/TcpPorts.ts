/**
 * Public TCP ports of tunnels. The edge listens at a port that it offers while an agent of the tunnel that has the port is
 * connected, and a little longer, because the agent is probably reconnecting. A visitor's bytes go to the agent as they come.
 */
import { isOpen } from "@catenet/domain/edges/AccessPolicy"
import { isOffered } from "@catenet/domain/edges/PublicPort"
import { Scheduler } from "@catenet/platform/Scheduler"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { Clock, Effect, FiberMap, Option, Schedule } from "effect"
import type { Socket } from "node:net"
import { AuditLog } from "../audit/AuditLog.ts"
import { endpointsOf } from "../listen/ConnectionAddresses.ts"
import { makeServe } from "../listen/ConnectionFibers.ts"
import type { ConnectionLimiter } from "../listen/ConnectionLimiter.ts"
import * as TcpListener from "../listen/TcpListener.ts"
import { VisitorPlaces } from "../listen/VisitorPlaces.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Relays } from "../relay/Relays.ts"
import { Routes } from "../routes/Routes.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { Settings } from "../settings/Settings.ts"

/** Agents of a tunnel with a port serve no host name. */
const target = { _tag: "Mesh" } as const

const makeVisit = Effect.gen(function* () {
  const agents = yield* AgentSessions
  const audit = yield* AuditLog
  const clock = yield* Clock.Clock
  const counters = yield* Counters
  const places = yield* VisitorPlaces
  const relays = yield* Relays
  const routes = yield* Routes
  const run = yield* makeServe

  return (token: string, socket: Socket) => {
    audit.note("tcp_port", socket, token)
    if (!isOpen(routes.policy(token), toUnixSeconds(clock.currentTimeMillisUnsafe()))) {
      counters.accessWindowRefusals += 1
      return void socket.destroy()
    }
    const isIdle = () => socket.bytesRead === 0 && socket.bytesWritten === 0
    if (!places.enter(socket, token, { isIdle, evict: () => void socket.destroy() })) return void socket.destroy()
    const header = { kind: "visitor", tls: "none", ...endpointsOf(socket) } as const
    const ready = agents.deliverNow(token, target, header)
    if (ready !== undefined) return relays.start(ready, socket, "browser")
    return run(socket, () =>
      agents.deliver(token, target, header).pipe(
        Effect.map((delivered) => relays.start(delivered, socket, "browser")),
        Effect.catchTag("TunnelOffline", () =>
          Effect.sync(() => {
            counters.visitorsOfOfflineTunnels += 1
            closeGracefully(socket)
          })
        )
      )
    )
  }
})

/** Listens until the scope closes; connections that are open then stay open. */
export const serve = Effect.fn("TcpPorts.serve")(function* (limiter: ConnectionLimiter) {
  const { deliverWaitMillis, frontDoor, mesh, ports, processes } = yield* Settings
  if (ports === undefined) return
  const { host } = frontDoor ?? mesh
  const agents = yield* AgentSessions
  const routes = yield* Routes
  const visit = yield* makeVisit
  const { ending } = yield* ConnectionFaults
  const listeners = yield* FiberMap.make<number>()
  const run = yield* FiberMap.runtime(listeners)()
  /** The tunnel of each port. */
  const owners = new Map<number, string>()
  const portsOf = new Map<string, number>()

  const listening = (port: number) =>
    TcpListener.listen({
      name: "tcp-ports",
      variable: "CT_EDGE_PORTS",
      address: { host, port },
      limiter,
      ending,
      sharing: processes === 1 ? "no" : "one-of-several",
      sockets: 1,
      onConnection: (socket) => {
        const owner = owners.get(port)
        if (owner === undefined) socket.destroy()
        else visit(owner, socket)
      }
    }).pipe(
      Effect.tapError(({ message }) => Effect.logError(message)),
      Effect.retry(Schedule.spaced("10 seconds")),
      Effect.andThen(Effect.never),
      Effect.scoped
    )

  const isServed = (port: number) => agents.tunnel(owners.get(port) ?? "")?.connected === true

  const settle = (port: number) => {
    if (isServed(port)) return void run(port, listening(port), { onlyIfMissing: true })
    const close = () =>
      isServed(port) ? undefined : Option.getOrUndefined(FiberMap.getUnsafe(listeners, port))?.interruptUnsafe()
    if (owners.has(port)) Scheduler.setTimeout(close, deliverWaitMillis).unref()
    else close()
  }

  const changed = (token: string) => {
    const before = portsOf.get(token)
    const allotted = routes.port(token)
    if (before !== undefined && owners.get(before) === token) owners.delete(before)
    portsOf.delete(token)
    if (allotted?.protocol === "tcp" && isOffered(ports, allotted.port)) {
      owners.set(allotted.port, token)
      portsOf.set(token, allotted.port)
    }
    for (const port of new Set([before, portsOf.get(token)])) if (port !== undefined) settle(port)
  }

  const moved = ({ token }: { readonly token: string }) => {
    const port = portsOf.get(token)
    if (port !== undefined) settle(port)
  }
  agents.observe({ connected: moved, carried: () => undefined, disconnected: moved })
  routes.watchPorts(changed)
})
