/**
 * HTTP/2 clients inside TLS that the agent terminates: each request becomes an HTTP/1.1 request to the origin, as at the edge, so
 * that nothing changes for visitors when a name becomes end-to-end (gruen).
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { coalesceReads } from "@catenet/wire/transport/Coalesce"
import type { CrumbBudget } from "@catenet/wire/transport/CrumbBudget"
import { guarded, guard, type OnFault, silence } from "@catenet/wire/transport/FaultBoundary"
import { arrive, maxSendHeaderBlockLength, maxStreams, streamWindow } from "@catenet/wire/transport/Http2Stream"
import { SessionPause } from "@catenet/wire/transport/ReadPause"
import { Effect, FiberSet, Schedule } from "effect"
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { AgentCardResponder } from "./AgentCardResponder.ts"
import { crumbsOf } from "./BrowserClients.ts"
import { exchange, OriginAway, OriginConnections } from "./Http2Exchange.ts"

const connectionWindow = 2 * 1024 * 1024
/** A client without requests between this many checks is disconnected. */
const lookEvery = "30 seconds"
const maxQuietLooks = 4
/** A client whose small frames would have to wait for longer is read again: what it sent meanwhile is counted. */
const maxRestMillis = 30_000

/** Answers a request in place of the origin; returns whether it did. */
type Answers = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean

/** Takes over the connection; its requests go through `agent`. */
const begin = (
  socket: TLSSocket,
  agent: OriginConnections,
  onFault: OnFault,
  answers: Answers,
  onCrumb: () => number
) => {
  const reads = new SessionPause(socket)
  // An HTTP/2 connection has no halves: a peer that ends it is gone.
  socket.allowHalfOpen = false
  // Only a `tls.Server` emits this for its sockets; without it a session waits for the handshake.
  Object.assign(socket, { secureConnecting: false })
  // Loaded for the first client that speaks it: an idle program then holds 5 MB less.
  const session = process.getBuiltinModule("node:http2").performServerHandshake(socket, {
    settings: { maxConcurrentStreams: maxStreams, initialWindowSize: streamWindow, enableConnectProtocol: false },
    maxSendHeaderBlockLength,
    strictSingleValueFields: false
  })
  guard(session, (error) => {
    onFault(error)
    socket.destroy()
  })
  socket.once("end", () => session.destroy())
  session.setLocalWindowSize(connectionWindow)
  session.on("error", () => undefined)
  session.once("close", () => silence(session))
  let [open, quietLooks] = [0, 0]
  session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    open++
    quietLooks = 0
    stream.once("close", () => open--)
    const fault: OnFault = (error) => {
      onFault(error)
      stream.destroy(new Error("a fault of the agent"))
    }
    guard(stream, fault)
    stream.on("error", () => undefined)
    coalesceReads(stream, () => reads.pause(Math.min(onCrumb(), maxRestMillis)))
    const incoming = arrive(stream, headers, fault)
    // A stream that is reset in its first packet causes no work.
    const serve = () => {
      if (!stream.closed && !answers(stream, headers)) exchange(incoming, agent, fault)
    }
    Scheduler.setImmediate(guarded(fault, serve))
  })
  const look = () => {
    if (open > 0) quietLooks = 0
    else if (++quietLooks >= maxQuietLooks) session.close()
  }
  return { session, look }
}

/** `dial` returns a connection to the origin ready for its first byte, or fails with the reason. */
export const make = (
  dial: (header: OpenHeader | undefined) => Effect.Effect<Socket, unknown>,
  metrics: AgentMetrics["Service"],
  crumbs: CrumbBudget,
  own?: AgentCardResponder["http2"]
) =>
  Effect.fnUntraced(function* (socket: TLSSocket, header: OpenHeader | undefined) {
    const run = yield* FiberSet.makeRuntime<never>()
    const agent = new OriginConnections((opened) => {
      const dialled = Effect.match(dial(header), {
        onSuccess: (origin) => opened(null, origin),
        onFailure: () => opened(new OriginAway(), undefined)
      })
      run(dialled)
    })
    const answers: Answers = (stream, headers) => {
      const answered = own?.(stream, headers)
      if (answered !== undefined) run(answered)
      return answered !== undefined
    }
    const looks = (look: () => void) => Effect.repeat(Effect.sync(look), Schedule.spaced(lookEvery))
    yield* Effect.callback<void>((resume) => {
      if (socket.destroyed) return resume(Effect.void)
      socket.once("close", () => {
        agent.destroy()
        resume(Effect.void)
      })
      const { look, session } = begin(socket, agent, metrics.fault, answers, crumbsOf(crumbs, header))
      run(looks(look))
      return Effect.sync(() => {
        session.destroy()
        socket.destroy()
      })
    })
  }, Effect.scoped)
