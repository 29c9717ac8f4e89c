/**
 * Reports within a second when files appear, change or disappear. Uses a plain timer: a fiber per second would keep a mebibyte of
 * code and garbage alive in an idle agent.
 */
import { Files } from "@catenet/platform/Files"
import { Scheduler } from "@catenet/platform/Scheduler"
import { Effect, Queue } from "effect"

const lookMillis = 1000

/** Nothing for a missing file, without creating an error at every check. */
const stateOf = (path: string) =>
  Files.stat(path, { throwIfNoEntry: false }).then(
    (found) => (found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`),
    () => "unreadable"
  )

/** A value that changes whenever one of the files does. */
const statesOf = async (paths: ReadonlyArray<string>) => (await Promise.all(paths.map(stateOf))).join()

/** Waits until something has changed since this was created, or since the last wait; for a single waiter. */
export const make = Effect.fn("FileWatcher.make")(function* (paths: ReadonlyArray<string>) {
  const changes = yield* Queue.sliding<void>(1)
  let last = yield* Effect.promise(() => statesOf(paths))
  let isLooking = false
  const look = async () => {
    // An unresponsive file system is asked only once.
    if (isLooking) return
    isLooking = true
    const states = await statesOf(paths)
    isLooking = false
    if (states === last) return
    last = states
    Queue.offerUnsafe(changes, undefined)
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => Scheduler.setInterval(() => void look(), lookMillis)),
    (timer) => Effect.sync(() => Scheduler.clearInterval(timer))
  )
  return Queue.take(changes)
})
