/** Visitors of public TCP ports: their bytes go to the agent as they come. */
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { Effect } from "effect"
import type { Socket } from "node:net"
import { AuditLog } from "../audit/AuditLog.ts"
import type { ConnectionLimiter } from "../listen/ConnectionLimiter.ts"
import * as TcpListener from "../listen/TcpListener.ts"
import { VisitorPlaces } from "../listen/VisitorPlaces.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"
import { follow } from "./AllottedPorts.ts"
import { PortVisits } from "./PortVisits.ts"

const makeVisit = Effect.gen(function* () {
  const audit = yield* AuditLog
  const counters = yield* Counters
  const places = yield* VisitorPlaces
  const visits = yield* PortVisits

  return (token: string, socket: Socket) => {
    audit.note("tcp_port", socket, token)
    if (!visits.admits(token, socket.remoteAddress ?? "")) return void socket.destroy()
    const isIdle = () => socket.bytesRead === 0 && socket.bytesWritten === 0
    if (!places.enter(socket, token, { isIdle, evict: () => void socket.destroy() })) return void socket.destroy()
    return visits.pass(token, "tcp", socket, () => {
      counters.visitorsOfOfflineTunnels += 1
      socket.end()
      closeGracefully(socket)
    })
  }
})

/** Listens until the scope closes; connections that are open then stay open. */
export const serve = Effect.fn("TcpPorts.serve")(function* (limiter: ConnectionLimiter) {
  const { frontDoor, mesh, ports: offered, processes } = yield* Settings
  if (offered === undefined) return
  const { host } = frontDoor ?? mesh
  const visit = yield* makeVisit
  const { ending } = yield* ConnectionFaults
  yield* follow({
    protocol: "tcp",
    offered,
    listen: (port, owner) =>
      TcpListener.listen({
        name: "tcp-ports",
        variable: "CT_EDGE_PORTS",
        address: { host, port },
        limiter,
        ending,
        sharing: processes === 1 ? "no" : "one-of-several",
        sockets: 1,
        onConnection: (socket) => {
          const token = owner()
          if (token === undefined) socket.destroy()
          else visit(token, socket)
        }
      })
  })
})
