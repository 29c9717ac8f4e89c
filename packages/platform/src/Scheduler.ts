/**
 * Timers and the monotonic clock, for code that has no fiber: sockets' own time limits and what paces bytes. Everything else takes
 * `Effect.sleep` and the `Clock` service. A seam (see `Seam`).
 */
type Timer = NodeJS.Timeout

export interface Scheduler {
  readonly setTimeout: (task: () => void, millis?: number) => Timer
  readonly clearTimeout: (timer: Timer | undefined) => void
  readonly setInterval: (task: () => void, millis?: number) => Timer
  readonly clearInterval: (timer: Timer | undefined) => void
  /** After the events of this turn of the loop. */
  readonly setImmediate: (task: () => void) => NodeJS.Immediate
  readonly clearImmediate: (immediate: NodeJS.Immediate | undefined) => void
  /** Milliseconds that only grow, whatever happens to the wall clock. */
  readonly monotonicMillis: () => number
  /** Unix milliseconds, for code without a `Clock`. */
  readonly wallMillis: () => number
}

export const Scheduler: Scheduler = {
  setTimeout: (task, millis) => setTimeout(task, millis),
  clearTimeout: (timer) => clearTimeout(timer),
  setInterval: (task, millis) => setInterval(task, millis),
  clearInterval: (timer) => clearInterval(timer),
  setImmediate: (task) => setImmediate(task),
  clearImmediate: (immediate) => clearImmediate(immediate),
  monotonicMillis: () => performance.now(),
  wallMillis: () => Date.now()
}
