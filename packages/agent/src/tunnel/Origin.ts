/** Connects to the local service. The name is resolved anew for each connection. */
import { Socket } from "@catenet/platform/Sockets"
import { Data, Effect, Schedule } from "effect"
import type { LookupFunction } from "node:net"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"

/** The local service does not accept a connection, or not within the limit. */
export class OriginDown extends Data.TaggedError("OriginDown")<{
  readonly origin: string
  readonly why: string
  readonly late: boolean
  /** The system's name of the error, where it has one. */
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

/** What writing fails with when the peer has closed. */
const peerClosed: ReadonlySet<unknown> = new Set(["EPIPE", "ECONNRESET"])

/**
 * A service that refuses an upload answers and closes at once. Node destroys a socket when a write fails, with the answer unread:
 * here what can no longer be written is dropped, and reading goes on to what the service said last.
 */
class OriginSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, done: Done): void {
    super._write(chunk, encoding, lenient(done))
  }

  override _writev(chunks: Array<{ chunk: unknown; encoding: BufferEncoding }>, done: Done): void {
    super._writev?.(chunks, lenient(done))
  }
}

const lenient =
  (done: Done): Done =>
  (error) => {
    if (error !== undefined && error !== null && "code" in error && peerClosed.has(error.code)) done()
    else done(error)
  }

/** A connected socket that allows half-open use. */
export const dial = (address: HostPort): Effect.Effect<Socket, OriginDown> => {
  const origin = formatHostPort(address)
  return Effect.callback<Socket, OriginDown>((resume) => {
    const socket = new OriginSocket({ allowHalfOpen: true, noDelay: true }).connect({
      ...address,
      autoSelectFamily: true,
      ...(address.host === "localhost" ? { lookup: ofThisMachine } : {})
    })
    const failed = (error: Error) => {
      const code = "code" in error && typeof error.code === "string" ? error.code : undefined
      resume(Effect.fail(new OriginDown({ origin, why: error.message || code || "cannot connect", late: false, code })))
    }
    socket.once("error", failed)
    socket.once("connect", () => {
      socket.off("error", failed)
      socket.on("error", () => {})
      resume(Effect.succeed(socket))
    })
    return Effect.sync(() => {
      socket.on("error", () => {})
      socket.destroy()
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: connectMillis,
      orElse: () =>
        Effect.fail(new OriginDown({ origin, why: `no connection within ${connectMillis / 1000} s`, late: true }))
    })
  )
}

/** Warns where nothing listens yet, and reports the service once it does. */
export const awaitService = Effect.fn("Origin.awaitService")(function* (address: HostPort) {
  const origin = formatHostPort(address)
  const answers = Effect.match(dial(address), {
    onSuccess: (socket) => socket.destroy().destroyed,
    onFailure: () => false
  })
  if (yield* answers) return
  yield* Effect.logWarning(`nothing listens at ${origin} yet; visitors get an error page until you start the service`)
  yield* Effect.repeat(answers, { schedule: Schedule.spaced("1 second"), until: (isUp) => isUp })
  yield* Effect.logInfo(`the service at ${origin} answers now`)
})
