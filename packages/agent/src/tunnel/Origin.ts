/** Connects to the local service, resolving its name for each connection. */
import type { Socket } from "@catenet/platform/Sockets"
import { HostRewriter } from "@catenet/proxy/internal/http1/HostRewriter"
import { SharedReadSocket } from "@catenet/wire/transport/BufferMemory"
import { Cause, Data, Effect, FiberSet } from "effect"
import type { LookupFunction } from "node:net"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"

/** The streams being served, each in its own fiber, so that a stopping agent can let them finish. */
export interface ActiveStreams {
  /** Serves in the background. Defects are reported; the run itself ends the stream. */
  run(serving: Effect.Effect<void>): void
  /** Waits until nothing is being served. */
  readonly idle: Effect.Effect<void>
}

/** Closing the scope ends all streams that are still served. */
export const make = Effect.gen(function* () {
  const metrics = yield* AgentMetrics
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)<never>()
  return {
    run: (serving) => {
      metrics.taskBegan()
      const reported = Effect.catchCause(serving, (cause) =>
        Effect.sync(() => {
          if (!Cause.hasInterruptsOnly(cause)) metrics.fault(Cause.squash(cause))
        })
      )
      run(Effect.ensuring(reported, Effect.sync(metrics.taskEnded)))
    },
    idle: FiberSet.awaitEmpty(fibers)
  } satisfies ActiveStreams
})

/** The local service does not accept a connection, or not within the limit. */
export class OriginDown extends Data.TaggedError("OriginDown")<{
  readonly origin: string
  readonly why: string
  readonly late: boolean
  /** The system's error code, if any. */
  readonly code?: string | undefined
}> {
  override get message() {
    return `origin ${this.origin}: ${this.why}`
  }
}

const connectMillis = 5000

/** The machine itself listens at either of these; a development server often at the second alone. */
const loopback = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 }
]
const ofThisMachine: LookupFunction = (_host, { all }, done) =>
  all === true ? done(null, loopback) : done(null, "127.0.0.1", 4)

type Done = (error?: Error | null) => void

/** Write errors after the peer has closed. */
const peerClosed: ReadonlySet<unknown> = new Set(["EPIPE", "ECONNRESET"])

const lenient =
  (done: Done): Done =>
  (error) => {
    if (error !== undefined && error !== null && "code" in error && peerClosed.has(error.code)) done()
    else done(error)
  }

/**
 * A service that rejects an upload responds and closes at once. Node destroys a socket when a write fails, with the response
 * unread: here unwritable data is dropped, and reading continues to the response. With `host` the requests get that Host field.
 */
export const adapted = <S extends Socket>(socket: S, host: string | undefined): S => {
  const { _write, _writev } = socket
  socket._write = (chunk, encoding, done) => _write.call(socket, chunk, encoding, lenient(done))
  socket._writev = (chunks, done) => _writev?.call(socket, chunks, lenient(done))
  return host === undefined ? socket : renamed(socket, new HostRewriter(host))
}

/** What a socket is given to write. */
export interface Piece {
  readonly chunk: Buffer | string
  readonly encoding: BufferEncoding
}

export const bytesOf = ({ chunk, encoding }: Piece) =>
  typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk

/** Node's own name for the encoding of a chunk that is bytes. */
const asBytes = "buffer" as BufferEncoding

/** What is written, and read, passes through `rewriter`. */
const renamed = <S extends Socket>(socket: S, rewriter: HostRewriter): S => {
  const { _final, _write, push } = socket
  const write = (bytes: Buffer, done: Done) => (bytes.length === 0 ? done() : _write.call(socket, bytes, asBytes, done))
  socket._write = (chunk: Buffer | string, encoding, done) => write(rewriter.push(bytesOf({ chunk, encoding })), done)
  socket._writev = (pieces: Array<Piece>, done) => write(rewriter.push(Buffer.concat(pieces.map(bytesOf))), done)
  socket._final = (done) => write(rewriter.flush(), () => _final.call(socket, done))
  socket.push = (chunk: Buffer | null, encoding) => {
    if (chunk !== null) rewriter.answered(chunk)
    return push.call(socket, chunk, encoding)
  }
  return socket
}

type Target = { readonly path: string } | HostPort

const codeOf = (error: Error) => ("code" in error && typeof error.code === "string" ? error.code : undefined)

/** What Node adds for its own users. */
const advice = /; if the root CA is installed locally, .*/su

/** Succeeds with the socket on `event`. */
export const opened = <S extends Socket>(origin: string, event: "connect" | "secureConnect", open: () => S) =>
  Effect.callback<S, OriginDown>((resume) => {
    const socket = open()
    const failed = (error: Error) => {
      const code = codeOf(error)
      const why = error.message.replace(advice, "") || code || "cannot connect"
      resume(Effect.fail(new OriginDown({ origin, why, late: false, code })))
    }
    socket.once("error", failed)
    socket.once(event, () => {
      socket.off("error", failed)
      socket.on("error", () => {})
      resume(Effect.succeed(socket))
    })
    return Effect.sync(() => {
      socket.on("error", () => {})
      socket.destroy()
    })
  })

/** Of the whole of a connection, with the TLS handshake. */
export const bounded = <S>(origin: string, connecting: Effect.Effect<S, OriginDown>) =>
  Effect.timeoutOrElse(connecting, {
    duration: connectMillis,
    orElse: () =>
      Effect.fail(new OriginDown({ origin, why: `no connection within ${connectMillis / 1000} s`, late: true }))
  })

export const connected = (target: Target, origin: string) =>
  opened(origin, "connect", () =>
    new SharedReadSocket({ allowHalfOpen: true, noDelay: true }).connect(
      "path" in target
        ? target
        : {
            ...target,
            autoSelectFamily: true,
            ...(target.host === "localhost" ? { lookup: ofThisMachine } : {})
          }
    )
  )

/** A connected socket that allows half-open use. */
export const dial = (address: HostPort): Effect.Effect<Socket, OriginDown> => {
  const name = formatHostPort(address)
  return Effect.map(bounded(name, connected(address, name)), (socket) => adapted(socket, undefined))
}
