/**
 * QUIC for this agent or client: dialers and listeners share one QUIC process, started by the first user and ended with the last.
 * Connections that check no certificate use a second one.
 */
import { isIP } from "@catenet/platform/IpAddress"
import { Sockets } from "@catenet/platform/Sockets"
import * as QuicProcess from "@catenet/wire/quic/process/QuicProcess"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import { Context, Data, Effect, Layer, RcRef, type Scope } from "effect"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import { OutgoingProxy } from "./OutgoingProxy.ts"

/** No connection by QUIC. */
export class QuicUnreachable extends Data.TaggedError("QuicUnreachable")<{
  readonly peer: string
  readonly why: string
}> {
  override get message() {
    return `${this.peer} by QUIC: ${this.why}`
  }
  /**
   * Whether the peer's certificate is the reason. The runtime gives no code, but all its messages about certificates contain this
   * word.
   */
  get isUntrusted() {
    return /certificate/iu.test(this.why)
  }
}

export interface QuicTarget extends HostPort {
  /** Expected name of the certificate; edges and agents use `localhost`. */
  readonly serverName?: string
  /** PEM of the roots, or of the only trusted leaf; undefined if the streams authenticate the peer themselves. */
  readonly roots: string | undefined
  /** Time limit of the whole attempt; 5 s for the agent (agent.md 5.1). */
  readonly millis?: number
  /** Idle timeout in milliseconds, and concurrent streams of the peer. */
  readonly transport?: { readonly keepAlive: number; readonly idle: number; readonly streams: number }
}

const dialMillis = 5_000
/** Agent.md 5.1. More streams than the 100 of the reference kind: each visitor is one. */
const agentTransport = { keepAlive: 5_000, idle: 30_000, streams: 4_096 }
/** A lost connection is dialed again before its process is abandoned. */
const idleTimeToLive = "30 seconds"

const addressesOf = async (host: string) =>
  isIP(host) === 0 ? (await Sockets.lookup(host, { all: true })).map(({ address }) => address) : [host]

const within = <A, R>(millis: number, dialing: Effect.Effect<A, QuicProcess.QuicFailed, R>) =>
  Effect.timeoutOrElse(dialing, {
    duration: millis,
    orElse: () => Effect.fail(new QuicProcess.QuicFailed({ why: `no connection within ${millis / 1_000} s` }))
  })

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

export class QuicDial extends Context.Service<
  QuicDial,
  {
    /** Whether the QUIC process's runtime is installed and QUIC can leave this machine. */
    readonly isInstalled: boolean
    /** The shared process, for listeners; kept at least as long as the scope. */
    readonly process: Effect.Effect<QuicProcess.QuicProcess, QuicProcess.QuicFailed, Scope.Scope>
    /** A connection that ends with the scope. Its streams are paused at first. */
    readonly dial: (target: QuicTarget) => Effect.Effect<QuicConnection, QuicUnreachable, Scope.Scope>
  }
>()("agent/carrier/QuicDial") {
  static readonly make = Effect.gen(function* () {
    const isProxied = (yield* OutgoingProxy) !== undefined
    // Datagrams do not pass an HTTP proxy.
    const program = isProxied ? undefined : QuicProgram.find()
    const processFor = (purpose: "dial" | "unverified") =>
      RcRef.make({
        acquire:
          program === undefined
            ? Effect.fail(
                new QuicProcess.QuicFailed({
                  why: isProxied
                    ? "QUIC is off behind CT_AGENT_PROXY"
                    : "the runtime of the QUIC process is not installed"
                })
              )
            : Effect.mapError(
                QuicProcess.start(program, purpose),
                ({ message }) => new QuicProcess.QuicFailed({ why: message })
              ),
        idleTimeToLive
      })
    const process = RcRef.get(yield* processFor("dial"))
    const unverified = RcRef.get(yield* processFor("unverified"))

    /** The first address that answers; each gets a share of the time. */
    const connect = Effect.fnUntraced(function* ({
      host,
      millis = dialMillis,
      port,
      roots,
      serverName = "localhost",
      transport = agentTransport
    }: QuicTarget) {
      const quic = yield* roots === undefined ? unverified : process
      const addresses = yield* Effect.tryPromise({
        try: () => addressesOf(host),
        catch: (error) => new QuicProcess.QuicFailed({ why: reasonOf(error) })
      })
      const attempts = addresses.map((address) =>
        within(
          millis / addresses.length,
          quic.dial({ to: { address, port }, serverName, roots: roots ?? "", transport })
        )
      )
      return yield* Effect.acquireRelease(
        Effect.firstSuccessOf(attempts),
        (connection) => Effect.sync(() => connection.close()),
        { interruptible: true }
      )
    })

    return QuicDial.of({
      isInstalled: program !== undefined,
      process,
      dial: Effect.fn("QuicDial.dial")((target) =>
        within(target.millis ?? dialMillis, connect(target)).pipe(
          Effect.mapError(({ why }) => new QuicUnreachable({ peer: formatHostPort(target), why }))
        )
      )
    })
  })
  static readonly layer = Layer.effect(this, this.make)
  /** For programs that use QUIC if it is available. */
  static readonly layerWhere = (isWanted: boolean): Layer.Layer<never> => (isWanted ? this.layer : Layer.empty)
}
