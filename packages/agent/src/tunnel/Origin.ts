/** Connects to the local service, resolving its name for each connection. */
import { Socket } from "@catenet/platform/Sockets"
import * as Http2Origin from "@catenet/proxy/internal/http2/Http2Origin"
import { Cause, Data, Effect, FiberSet, FileSystem, Schedule } from "effect"
import type { LookupFunction } from "node:net"
import { join } from "node:path"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort, type ServiceAddress } from "../settings/HostPort.ts"

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

/**
 * A service that rejects an upload responds and closes at once. Node destroys a socket when a write fails, with the response
 * unread: here unwritable data is dropped, and reading continues to the response.
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

type Target = { readonly path: string } | HostPort

const connected = (target: Target, origin: string): Effect.Effect<Socket, OriginDown> =>
  Effect.callback<Socket, OriginDown>((resume) => {
    const socket = new OriginSocket({ allowHalfOpen: true, noDelay: true }).connect(
      "path" in target
        ? target
        : {
            ...target,
            autoSelectFamily: true,
            ...(target.host === "localhost" ? { lookup: ofThisMachine } : {})
          }
    )
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

/** Where an origin that speaks HTTP/2 is spoken to by HTTP/1.1. */
interface Door {
  readonly path: string
  readonly ready: Effect.Effect<void, OriginDown>
}

/** A connected socket that allows half-open use and speaks HTTP/1.1, or whatever the service speaks. */
export const dial = (address: HostPort & { readonly door?: Door | undefined }): Effect.Effect<Socket, OriginDown> => {
  const { door, host, port } = address
  const origin = formatHostPort(address)
  return door === undefined
    ? connected({ host, port }, origin)
    : Effect.andThen(door.ready, connected({ path: door.path }, origin))
}

/** The origin with its door, if it needs one, for as long as the scope is open. */
export const open = Effect.fn("Origin.open")(function* <O extends ServiceAddress>(origin: O) {
  if (origin.isHttp2 !== true) return origin
  const { fault } = yield* AgentMetrics
  const fs = yield* FileSystem.FileSystem
  const path = join(yield* fs.makeTempDirectoryScoped({ prefix: "ct-agent-" }), "origin")
  const name = formatHostPort(origin)
  const direct = connected({ host: origin.host, port: origin.port }, name)
  const { ready } = yield* Effect.acquireRelease(
    Effect.promise(() => Http2Origin.open(path, () => Effect.runPromise(direct), fault)),
    ({ close }) => Effect.sync(close)
  )
  const door: Door = {
    path,
    ready: Effect.tryPromise({
      try: ready,
      catch: (error) =>
        error instanceof OriginDown ? error : new OriginDown({ origin: name, why: String(error), late: false })
    })
  }
  return { ...origin, door }
}, Effect.orDie)

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
