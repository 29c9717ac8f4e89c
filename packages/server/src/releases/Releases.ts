/** The agent's releases that this control plane serves. */
import { Files } from "@catenet/platform/Files"
import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import { Settings } from "../settings/Settings.ts"
import * as ReleaseFolder from "./ReleaseFolder.ts"

/**
 * The releases as they are listed while the service runs. A release that was put beside the others counts from the next request
 * on: an agent that hears of it late would look again only after its interval.
 */
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
export const makeReleaseListing = Effect.fn("Releases.make")(function* (
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

/** The npm package of the agent, as each release has it. */
export const packageName = "agent.tgz"

/** What lists and signs the programs of a release, which `/install.sh` reads first. */
const manifestName = "release-manifest.json"

export class Releases extends Context.Service<
  Releases,
  {
    /** The file of a version, or of the newest release. */
    file(version: string, name: string): Effect.Effect<string | undefined>
    /** The npm package of the newest release that has one. */
    readonly package: Effect.Effect<string | undefined>
    /** What starts the agent in a terminal: it brings the package along where a release has one. */
    readonly command: Effect.Effect<string>
    /** The same for a machine without Node, which installs the program; none where no release has programs. */
    readonly installing: Effect.Effect<string | undefined>
    /** The same for a person who may have the program only by another way. */
    readonly joining: Effect.Effect<string>
  }
>()("server/releases/Releases") {
  static readonly make = Effect.gen(function* () {
    const { agentsUrl, portalBaseUrl, releasesFolder } = yield* Settings
    const listed = releasesFolder === undefined ? Effect.succeed([]) : yield* makeReleaseListing(releasesFolder)
    const packaged = Effect.map(listed, (releases) =>
      releases.flatMap(({ files }) => files.get(packageName) ?? []).at(0)
    )
    const { origin } = agentsUrl ?? portalBaseUrl
    // Where there is no terminal npx would not ask, and stop.
    const bringing = `npx --yes ${origin}/${packageName}`
    return {
      file: Effect.fn("Releases.file")(function* (version: string, name: string) {
        const releases = yield* listed
        const wanted = ReleaseFolder.versionOf(version)
        const found = version === "latest" ? releases.at(0) : releases.find((release) => release.version === wanted)
        return found?.files.get(name)
      }),
      package: packaged,
      command: Effect.map(packaged, (path) => (path === undefined ? "npx --yes ct-agent" : bringing)),
      installing: Effect.map(listed, (releases) =>
        releases.at(0)?.files.has(manifestName) === true ? `curl -fsSL ${origin}/install.sh | sh` : undefined
      ),
      joining: Effect.map(packaged, (path) => (path === undefined ? "ct-agent" : bringing))
    }
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps
}
