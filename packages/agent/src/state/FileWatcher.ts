/**
 * Reports within a second when files appear, change or disappear, and later where the files of more than fifty services are watched.
 * Uses one plain timer: a fiber per second would keep a mebibyte of code and garbage alive in an idle agent.
 */
import { Files } from "@catenet/platform/Files"
import { Scheduler } from "@catenet/platform/Scheduler"
import { Effect, Queue } from "effect"

const lookMillis = 1000
/** Those that are looked at in turn each time: what an idle agent costs does not grow with its services. */
const atOnce = 50

/** Nothing for a missing file, without creating an error at every check. */
const stateOf = (path: string) =>
  Files.stat(path, { throwIfNoEntry: false }).then(
    (found) => (found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`),
    () => "unreadable"
  )

/** A value that changes whenever one of the files does. */
const statesOf = async (paths: ReadonlyArray<string>) => (await Promise.all(paths.map(stateOf))).join()

interface Watched {
  readonly paths: ReadonlyArray<string>
  readonly changed: () => void
  last: string
  isLooking: boolean
}

/** Those that were looked at last are at the end. */
const watched = new Set<Watched>()
let timer: ReturnType<typeof Scheduler.setInterval> | undefined

const look = async (one: Watched) => {
  // An unresponsive file system is asked only once.
  if (one.isLooking) return
  one.isLooking = true
  const states = await statesOf(one.paths)
  one.isLooking = false
  if (states === one.last || !watched.has(one)) return
  one.last = states
  one.changed()
}

const lookAtNext = () => {
  let left = Math.min(atOnce, watched.size)
  for (const one of watched) {
    if (left-- === 0) break
    watched.delete(one)
    watched.add(one)
    void look(one)
  }
}

/** Calls back after each change until the scope ends. */
export const watch = Effect.fnUntraced(function* (paths: ReadonlyArray<string>, changed: () => void) {
  const one: Watched = { paths, changed, last: yield* Effect.promise(() => statesOf(paths)), isLooking: false }
  const begin = Effect.sync(() => {
    watched.add(one)
    timer ??= Scheduler.setInterval(lookAtNext, lookMillis)
  })
  const end = Effect.sync(() => {
    watched.delete(one)
    if (watched.size > 0) return
    Scheduler.clearInterval(timer)
    timer = undefined
  })
  yield* Effect.acquireRelease(begin, () => end)
})

/** Waits until something has changed since this was created, or since the last wait; for a single waiter. */
export const make = Effect.fn("FileWatcher.make")(function* (paths: ReadonlyArray<string>) {
  const changes = yield* Queue.sliding<void>(1)
  yield* watch(paths, () => void Queue.offerUnsafe(changes, undefined))
  return Queue.take(changes)
})
