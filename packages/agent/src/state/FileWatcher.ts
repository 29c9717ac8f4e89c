/**
 * Says when one of some files has come, gone or changed, within a second. The files are looked at by a plain timer: an agent at rest
 * does nothing else that often, and a fiber each second would keep a mebibyte of its code and garbage in memory.
 */
import { Files } from "@catenet/platform/Files"
import { Scheduler } from "@catenet/platform/Scheduler"
import { Effect, Queue } from "effect"

const lookMillis = 1000

/** Nothing of a file that is not there, which is no error here: one would be made at each look. */
const stateOf = (path: string) =>
  Files.stat(path, { throwIfNoEntry: false }).then(
    (found) => (found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`),
    () => "unreadable"
  )

/** What differs whenever one of the files does. */
const statesOf = async (paths: ReadonlyArray<string>) => (await Promise.all(paths.map(stateOf))).join()

/** Waits until something has changed since this was made, or since it was waited for last; for one who waits. */
export const make = Effect.fn("FileWatcher.make")(function* (paths: ReadonlyArray<string>) {
  const changes = yield* Queue.sliding<void>(1)
  let last = yield* Effect.promise(() => statesOf(paths))
  let isLooking = false
  const look = async () => {
    // A file system that does not answer is asked once.
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
