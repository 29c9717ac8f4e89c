/**
 * A client's QUIC connection to the edge, shared by its streams and opened on first use, and the direct path around the edge if
 * the agent has offered one (data-plane 4.4 and 4.6).
 */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { decodePeerReply } from "@catenet/wire/frames/QuicRole"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { Clock, Effect, Exit, Redacted, Result, Scope, Semaphore } from "effect"
import { QuicDial, QuicUnreachable } from "../carrier/QuicDial.ts"
import * as QuicRequest from "../carrier/QuicRequest.ts"
import { formatHostPort, type HostPort, parseHostPort } from "../settings/HostPort.ts"
import type { Carrier } from "../settings/TunnelTransports.ts"
import { restMillis } from "./DirectPathState.ts"

/** The edge lets a connection have a hundred at a time. */
const maxStreams = 90
const dialMillis = 3_000
const directMillis = 1_500
/** Closing a connection discards data in transit. */
const closeDelay = "2 seconds"

export interface QuicPath {
  /** In which order the ways to the edge are tried: as wanted, until another one has worked. */
  readonly ways: () => ReadonlyArray<"quic" | "tls">
  readonly worked: (way: "quic" | "tls") => void
  /** A stream to the edge. */
  readonly stream: Effect.Effect<CarrierStream, QuicUnreachable>
  /** A stream directly to the agent; undefined if there is no such path. */
  readonly direct: Effect.Effect<CarrierStream | undefined>
  readonly directFailed: Effect.Effect<void>
}

const waysOf = (wanted: ReadonlyArray<Carrier>) =>
  Array.from(new Set(wanted.map((carrier) => (carrier === "quic" ? ("quic" as const) : ("tls" as const)))))

/** Undefined where QUIC is not wanted or its runtime is not installed. */
export const make = Effect.fn("QuicPath.make")(function* (
  edge: HostPort,
  roots: string,
  token: Redacted.Redacted<Uint8Array>,
  wanted: ReadonlyArray<Carrier>
) {
  const quic = yield* QuicDial
  if (!wanted.includes("quic") || (!quic.isInstalled && wanted.length > 1)) return undefined
  const outer = yield* Effect.scope
  const alone = yield* Semaphore.make(1)
  let ways = waysOf(wanted)
  let shared: { readonly connection: QuicConnection; open: number } | undefined
  let restsUntil = Number.NEGATIVE_INFINITY

  const unreachable = (why: string) => new QuicUnreachable({ peer: formatHostPort(edge), why })

  /** A connection with its own scope. */
  const dial = Effect.fnUntraced(function* (target: Parameters<typeof quic.dial>[0]) {
    const scope = yield* Scope.fork(outer)
    const close = (exit: Exit.Exit<unknown, unknown>) => Scope.close(scope, exit)
    const connection = yield* quic.dial(target).pipe(
      Scope.provide(scope),
      Effect.onError((cause) => close(Exit.failCause(cause)))
    )
    yield* Effect.forkIn(
      Effect.andThen(
        Effect.promise(() => connection.closed),
        close(Exit.void)
      ),
      outer
    )
    return connection
  })

  const ended = (stream: CarrierStream) =>
    Effect.callback<void>((resume) => void stream.once("close", () => resume(Effect.void)))

  const closeLater = (connection: QuicConnection) =>
    Effect.andThen(
      Effect.sleep(closeDelay),
      Effect.sync(() => connection.close())
    )

  const holding = alone.withPermits(1)(
    Effect.gen(function* () {
      if (shared !== undefined && !shared.connection.isClosed && shared.open < maxStreams) return shared
      shared = { connection: yield* dial({ ...edge, roots, millis: dialMillis }), open: 0 }
      return shared
    })
  )

  const stream = Effect.gen(function* () {
    const held = yield* holding
    const opened = held.connection.open()
    if (Result.isFailure(opened)) return yield* unreachable(opened.failure.message)
    held.open++
    const left = Effect.suspend(() => {
      held.open--
      return held.open === 0 && held !== shared ? closeLater(held.connection) : Effect.void
    })
    yield* Effect.forkIn(Effect.andThen(ended(opened.success), left), outer)
    return opened.success
  })

  /** The agent's listener, as reported by the edge. */
  const asked = Effect.gen(function* () {
    const { connection } = yield* holding
    const reply = yield* QuicRequest.ask(connection, { role: "P", token: Redacted.value(token) })
    const listener = reply === undefined ? null : Result.getOrUndefined(decodePeerReply(reply))?.value
    const address = listener ? parseHostPort(listener.address) : undefined
    return listener && address ? { ...address, roots: Certificate.pem(listener.certificate) } : undefined
  })

  const directFailed = Effect.map(Clock.currentTimeMillis, (now) => {
    restsUntil = now + restMillis
  })

  const direct = Effect.gen(function* () {
    if ((yield* Clock.currentTimeMillis) < restsUntil || ways[0] !== "quic") return undefined
    const target = yield* asked
    if (target !== undefined) {
      const connection = yield* dial({ ...target, millis: directMillis })
      const opened = connection.open()
      if (Result.isSuccess(opened)) {
        yield* Effect.forkIn(Effect.andThen(ended(opened.success), closeLater(connection)), outer)
        return opened.success
      }
    }
    yield* directFailed
    return undefined
  }).pipe(Effect.catch(() => Effect.as(directFailed, undefined)))

  const route: QuicPath = {
    ways: () => ways,
    worked: (way) => {
      ways = [way, ...ways.filter((other) => other !== way)]
    },
    stream,
    direct,
    directFailed
  }
  return route
})
