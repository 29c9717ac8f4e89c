/**
 * The releases as they are listed while the service runs. A release that was put beside the others counts from the next request
 * on: an agent that hears of it late would look again only after its interval.
 */
import { Files } from "@catenet/platform/Files"
import { Clock, Effect, Semaphore } from "effect"
import * as ReleaseFolder from "./ReleaseFolder.ts"

interface Listing {
  readonly changedAt: bigint
  readonly listedAt: number
  readonly releases: ReadonlyArray<ReleaseFolder.Release>
}

/** Milliseconds after which the folders of the versions are read again, which may have got another file. */
const maxAge = 2000
/** Milliseconds within which a file system may give two changes of a folder the same time. */
const resolution = 2000

const none: ReadonlyArray<ReleaseFolder.Release> = []

/**
 * Gives the releases of the folder, the newest first. Requests cost one look at the folder, and read all of it only after a change
 * or when the listing is old; one reads at a time, and the others wait for it.
 */
export const make = Effect.fn("ReleaseListing.make")(function* (
  folder: string,
  list: (folder: string) => Promise<ReadonlyArray<ReleaseFolder.Release>> = ReleaseFolder.list
) {
  const alone = yield* Semaphore.make(1)
  let kept: Listing | undefined
  const read = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    // Before the listing: one that began before a change is not kept after it.
    const { mtimeNs: changedAt } = yield* Effect.tryPromise(() => Files.stat(folder, { bigint: true }))
    if (kept?.changedAt === changedAt && now >= kept.listedAt && now - kept.listedAt < maxAge) return kept.releases
    const releases = yield* Effect.tryPromise(() => list(folder))
    const isSettled = now - Number(changedAt / 1_000_000n) > resolution
    kept = isSettled ? { changedAt, listedAt: now, releases } : undefined
    return releases
  })
  return read.pipe(
    Effect.catch(({ cause }) =>
      cause instanceof Error && "code" in cause && cause.code === "ENOENT"
        ? Effect.succeed(none)
        : Effect.as(Effect.logWarning("The releases cannot be listed", cause), none)
    ),
    alone.withPermit
  )
})
