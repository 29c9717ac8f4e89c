/**
 * Clients of public UDP ports: a session for each client address and port, which ends after a minute without a datagram in either
 * direction. Sessions take places of the edge and of the tunnel as connections do.
 */
import { CannotListen } from "@catenet/platform/CannotListen"
import { isIPv6 } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"
import { Sockets } from "@catenet/platform/Sockets"
import { guarded } from "@catenet/wire/transport/FaultBoundary"
import { Effect } from "effect"
import type { RemoteInfo, Socket } from "node:dgram"
import { AuditLog } from "../audit/AuditLog.ts"
import { VisitorPlaces } from "../listen/VisitorPlaces.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Settings } from "../settings/Settings.ts"
import { follow } from "./AllottedPorts.ts"
import { PortVisits } from "./PortVisits.ts"
import type { UdpSession } from "./UdpSession.ts"
import { idleMillis, UdpSessions } from "./UdpSessions.ts"

/** Room for a burst while this process is busy; the system may give less. */
const receiveBytes = 4_194_304

const ignore = () => undefined

const bound = (host: string, port: number, reusePort: boolean) =>
  Effect.acquireRelease(
    Effect.callback<Socket, CannotListen>((resume) => {
      const type = isIPv6(host) ? "udp6" : "udp4"
      const socket = Sockets.udpSocket({ type, reusePort, recvBufferSize: receiveBytes })
      socket.once("error", (error: NodeJS.ErrnoException) => {
        socket.close()
        resume(Effect.fail(CannotListen.of("CT_EDGE_UDP_PORTS", { host, port }, error)))
      })
      socket.bind(port, host, () => {
        socket.removeAllListeners("error")
        socket.on("error", ignore)
        resume(Effect.succeed(socket))
      })
    }),
    (socket) => Effect.sync(() => void socket.close())
  )

const makeVisit = Effect.gen(function* () {
  const audit = yield* AuditLog
  const places = yield* VisitorPlaces
  const visits = yield* PortVisits

  /** Whether the session has begun. */
  return (token: string, session: UdpSession): boolean => {
    if (!visits.admits(token, session.remoteAddress)) return false
    // A client that has sent one datagram may be a forged address: it gives way first.
    const holder = { isIdle: () => !session.isKnown, evict: () => void session.destroy() }
    const visitor = {
      destroyed: session.destroyed,
      remoteAddress: session.remoteAddress,
      once: (_event: "close", left: () => void) => session.whenOver(left)
    }
    if (!places.enter(visitor, token, holder)) return false
    audit.note("udp_port", { address: session.remoteAddress }, token)
    visits.pass(token, "udp", session, () => void session.destroy())
    return true
  }
})

/** Listens until the scope closes. */
export const serve = Effect.gen(function* () {
  const { frontDoor, mesh, processes, udpPorts: offered } = yield* Settings
  if (offered === undefined) return
  const { host } = frontDoor ?? mesh
  const visit = yield* makeVisit
  const { report } = yield* ConnectionFaults
  yield* follow({
    protocol: "udp",
    offered,
    listen: Effect.fnUntraced(function* (port, owner) {
      const socket = yield* bound(host, port, processes > 1)
      const options = { server: { address: host, port }, now: Scheduler.monotonicMillis, visit }
      const sessions = new UdpSessions(socket, options)
      const sweep = () => sessions.sweep()
      const timer = Scheduler.setInterval(guarded(report, sweep), idleMillis / 12).unref()
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          Scheduler.clearInterval(timer)
          sessions.close()
        })
      )
      const receive = (datagram: Buffer, from: RemoteInfo) => {
        const token = owner()
        if (token !== undefined) sessions.receive(token, datagram, from)
      }
      socket.on("message", guarded(report, receive))
    })
  })
})
