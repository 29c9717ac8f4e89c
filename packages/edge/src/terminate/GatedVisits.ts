/** The visits of gated hosts: each connection of HTTP/1.1 and each request of HTTP/2 is noted until it ends, and asked about. */
import type { AskGate } from "@catenet/proxy/internal/GateVerdict"
import { guarded } from "@catenet/wire/transport/FaultBoundary"
import { TornStream } from "@catenet/wire/transport/Http2Stream"
import { cutUnfinished } from "@catenet/wire/transport/LingeringClose"
import { Effect } from "effect"
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2"
import type { TLSSocket } from "node:tls"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Routes } from "../routes/Routes.ts"
import type { Visit } from "./AuthenticatedConnections.ts"
import { LoginGate } from "./LoginGate.ts"

export const make = Effect.gen(function* () {
  const routes = yield* Routes
  const gate = yield* LoginGate
  const { report } = yield* ConnectionFaults
  const enter = (host: string, visit: Visit, ended: (leave: () => void) => void) =>
    ended(gate.enter(routes.find(host)?.token ?? "", visit))

  /** How the requests of a connection are asked about, whenever the gate is closed. */
  const connection = (socket: TLSSocket, host: string, address: string, end: () => void): AskGate => {
    const visit: Visit = { host, session: undefined, until: null, open: !gate.closes(host), end }
    enter(host, visit, (leave) => socket.once("close", leave))
    return ({ cookie, method, target, upgrade }) => {
      if (gate.closes(host)) return gate.judge({ host, method, target, cookie, upgrade, address }, visit)
      visit.open = true
      return undefined
    }
  }

  /** The verdict about a request; nothing where the host has no gate now. */
  const request = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, host: string, address: string) => {
    const closed = gate.closes(host)
    const cut = () => void stream.destroy(new TornStream("the visitor may no longer pass"))
    const end = () => cutUnfinished(stream, guarded(report, cut))
    const visit: Visit = { host, session: undefined, until: null, open: !closed, end }
    enter(host, visit, (leave) => stream.once("close", leave))
    if (!closed) return undefined
    const { ":method": method = "GET", ":path": target = "/", ":protocol": protocol, cookie = "" } = headers
    return gate.judge({ host, method, target, cookie, upgrade: protocol !== undefined, address }, visit)
  }

  return { connection, request }
})
