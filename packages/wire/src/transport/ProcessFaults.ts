/**
 * What callbacks of connections threw, logged with its stack at most once a minute. What reports a fault has ended the
 * connection, or ends it. A throw that reached the event loop all the same is reported, too: no connection can be named
 * then, and the others must not end for it.
 */
import { Cause, Clock, Effect, FiberSet } from "effect"
import type { OnFault } from "./FaultBoundary.ts"

/**
 * Counts the faults of connections and reports them at most once a minute: a stranger who can cause a fault must not be able to
 * fill a log.
 */
const quietMillis = 60_000

export class FaultLog {
  readonly #now: () => number
  readonly #write: (error: unknown, unreported: number) => void
  #count = 0
  #unreported = 0
  #writtenAt = Number.NEGATIVE_INFINITY

  /** `write` also gets how many faults were counted and not reported since the last call. */
  constructor(now: () => number, write: (error: unknown, unreported: number) => void) {
    this.#now = now
    this.#write = write
  }

  get count(): number {
    return this.#count
  }

  readonly report = (error: unknown): void => {
    this.#count += 1
    const now = this.#now()
    if (now - this.#writtenAt < quietMillis) {
      this.#unreported += 1
      return
    }
    const unreported = this.#unreported
    this.#writtenAt = now
    this.#unreported = 0
    this.#write(error, unreported)
  }
}

export interface ProcessFaults {
  readonly report: OnFault
  /** Reports what was thrown and destroys the connection. */
  readonly ending: (connection: { readonly destroy: () => unknown }) => OnFault
}

/** Of these, only the first gets throws that belong to no connection, so that a process with many services counts each once. */
const listening = new Set<OnFault>()
const onThrow = (error: unknown) => {
  const [first] = listening
  first?.(error)
}

const listen = (report: OnFault) => {
  if (listening.size === 0) process.on("uncaughtException", onThrow).on("unhandledRejection", onThrow)
  listening.add(report)
}

const unlisten = (report: OnFault) => {
  listening.delete(report)
  if (listening.size === 0) process.off("uncaughtException", onThrow).off("unhandledRejection", onThrow)
}

/** Works while the scope is open. `count` is called for each fault that is reported here. */
export const make = Effect.fnUntraced(function* (count: () => unknown) {
  const clock = yield* Clock.Clock
  const run = yield* FiberSet.makeRuntime<never>()
  const log = new FaultLog(
    () => clock.currentTimeMillisUnsafe(),
    (error, unlogged) => {
      const failed = Effect.logError("a callback of a connection failed", Cause.die(error))
      run(Effect.annotateLogs(failed, { unloggedBefore: unlogged }))
    }
  )
  const report = (error: unknown) => {
    count()
    log.report(error)
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => listen(report)),
    () => Effect.sync(() => unlisten(report))
  )
  const faults: ProcessFaults = {
    report,
    ending: (connection) => (error) => {
      report(error)
      connection.destroy()
    }
  }
  return faults
})
