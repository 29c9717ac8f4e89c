/**
 * QUIC for a program, by a process that owns the UDP sockets. Whatever that process carries ends with it and nothing else does; it is
 * started again at once, and its listeners with it.
 */
import { Clock, Data, Deferred, Effect, Latch, Result, type Scope, Semaphore } from "effect"
import type { Endpoint } from "../link/LinkFrame.ts"
import type { QuicConnection } from "../QuicConnection.ts"
import { launch, LaunchFailed, type Purpose } from "./QuicProcessLaunch.ts"
import type { Dial, Listen, Listening, OnIncoming, QuicProcessLink } from "./QuicProcessLink.ts"
import type { QuicProgram } from "./QuicProgram.ts"

export class QuicFailed extends Data.TaggedError("QuicFailed")<{ readonly why: string }> {
  override get message() {
    return this.why
  }
}

export interface Bound extends Endpoint {
  /** Those that connect from now on get this certificate, and no connection ends. */
  readonly renew: (pair: Pick<Listen, "certificate" | "key">) => Effect.Effect<void, QuicFailed>
}

export interface QuicProcess {
  /** The port is bound, and bound again after each restart, while the scope lives. Port 0 is chosen once. */
  readonly listen: (options: Listen, onIncoming: OnIncoming) => Effect.Effect<Bound, QuicFailed, Scope.Scope>
  /** Waits for a process that is being started again; the time is up to the caller. */
  readonly dial: (options: Dial) => Effect.Effect<QuicConnection, QuicFailed>
  /** The id of the process that runs now; 0 between two. */
  readonly pid: () => number
}

interface Listener {
  options: Listen
  readonly onIncoming: OnIncoming
  /** At the process that runs now. */
  listening: Listening | undefined
}

const down = "the QUIC process is down; it is started again"

/** Those who were connected are back within a second; a process that cannot start is tried more rarely. */
const firstPauseMillis = 100
const longestPauseMillis = 5_000
const steadyMillis = 10_000

const bind = (link: QuicProcessLink, listener: Listener) =>
  Effect.gen(function* () {
    const bound = yield* Effect.promise(() => link.listen(listener.options, listener.onIncoming))
    if (Result.isFailure(bound)) return yield* new QuicFailed({ why: bound.failure })
    listener.options = { ...listener.options, at: bound.success.at }
    listener.listening = bound.success
    return bound.success.at
  })

const renew = (listener: Listener, { certificate, key }: Pick<Listen, "certificate" | "key">) =>
  Effect.gen(function* () {
    const before = listener.options
    listener.options = { ...before, certificate, key }
    const { listening } = listener
    if (listening === undefined) return
    const renewed = yield* Effect.promise(() => listening.renew(listener.options))
    // Where the process went away meanwhile, the next one begins with it.
    if (Result.isSuccess(renewed) || listener.listening !== listening) return
    listener.options = before
    return yield* new QuicFailed({ why: renewed.failure })
  })

/** Starts the process and keeps it running while the scope lives; fails when the first start does. */
export const start = Effect.fn("QuicProcess.start")(function* (program: QuicProgram, purpose: Purpose = "dial") {
  const log = Effect.runForkWith(yield* Effect.context())
  const started = yield* Deferred.make<void, LaunchFailed>()
  const listeners = new Set<Listener>()
  const up = yield* Latch.make()
  let running: { readonly link: QuicProcessLink; readonly pid: number } | undefined
  const isDown = Effect.suspend(() => {
    running = undefined
    for (const listener of listeners) listener.listening = undefined
    return up.close
  })
  const logLine = (line: string) => void log(Effect.logWarning("the QUIC process said", line))
  const report = (error: unknown) => void log(Effect.logError("a fault beside the QUIC process", error))

  const live = Effect.gen(function* () {
    const { ended, link, pid } = yield* launch(program, purpose, logLine, report)
    for (const listener of listeners)
      yield* bind(link, listener).pipe(
        Effect.catch(({ why }) => Effect.logError("a QUIC port could not be bound again", why))
      )
    running = { link, pid }
    yield* up.open
    yield* Deferred.succeed(started, undefined)
    const why = yield* Effect.promise(() => Promise.race([ended, link.closed.then(() => "its link closed")]))
    yield* isDown
    return yield* new LaunchFailed({ why })
  }).pipe(Effect.scoped, Effect.ensuring(isDown))

  const keep = Effect.gen(function* () {
    let pause = firstPauseMillis
    for (;;) {
      const began = yield* Clock.currentTimeMillis
      const ended = yield* Effect.flip(live)
      if (yield* Deferred.fail(started, ended)) return
      yield* Effect.logWarning("the QUIC process ended and is started again", ended.why)
      const wasSteady = (yield* Clock.currentTimeMillis) - began > steadyMillis
      pause = wasSteady ? firstPauseMillis : Math.min(2 * pause, longestPauseMillis)
      yield* Effect.sleep(pause)
    }
  })
  yield* Effect.forkScoped(keep)
  yield* Deferred.await(started)

  return {
    pid: () => running?.pid ?? 0,
    listen: Effect.fn("QuicProcess.listen")(function* (options, onIncoming) {
      if (running === undefined) return yield* new QuicFailed({ why: down })
      const listener: Listener = { options, onIncoming, listening: undefined }
      const turns = yield* Semaphore.make(1)
      const at = yield* bind(running.link, listener)
      yield* Effect.acquireRelease(
        Effect.sync(() => listeners.add(listener)),
        () =>
          Effect.sync(() => {
            listeners.delete(listener)
            listener.listening?.close()
          })
      )
      return { ...at, renew: (pair) => turns.withPermits(1)(renew(listener, pair)) }
    }),
    dial: Effect.fn("QuicProcess.dial")(function* (options) {
      yield* up.await
      if (running === undefined) return yield* new QuicFailed({ why: down })
      const { link } = running
      const dialed = yield* Effect.promise((signal) => link.dial(options, signal))
      return Result.isSuccess(dialed) ? dialed.success : yield* new QuicFailed({ why: dialed.failure })
    })
  } satisfies QuicProcess
})
