/**
 * Replaces this program's file by a newer one. At any interruption the file is complete: the old program or the new one, by a
 * single rename. What a serving agent downloads takes effect once the new version has registered; what a person requests takes
 * effect at once, and the old file is kept until the new version has registered.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import { Processes } from "@catenet/platform/Processes"
import { Clock, Effect, FileSystem, Option, Schedule, Stream } from "effect"
import { createHash } from "node:crypto"
import { dirname } from "node:path"
import { UpdateFailed } from "./ReleaseCandidate.ts"
import { decode, placesOf, type Trial } from "./TrialFiles.ts"

/** Milliseconds for a program to load everything that serving needs and print its version, even on a busy machine. */
const versionBound = 30_000

const isBusy = (error: unknown) => error instanceof Error && "code" in error && error.code === "ETXTBSY"

/** Fails with "busy" if a process that was started meanwhile still has the file open for writing. */
const hasVersion = (path: string, version: string) =>
  Effect.callback<boolean, "busy">((resume) => {
    const failed = (error: unknown) => resume(isBusy(error) ? Effect.fail("busy") : Effect.succeed(false))
    try {
      Processes.execFile(path, ["--self-test"], { timeout: versionBound, env: {} }, (error, stdout) =>
        error === null ? resume(Effect.succeed(stdout.trim() === `ct-agent ${version}`)) : failed(error)
      )
    } catch (error) {
      // Node throws unexpected errors of starting a program.
      failed(error)
    }
  }).pipe(
    // It closes the inherited file within a moment.
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 50 }),
    Effect.orElseSucceed(() => false)
  )

const failed = (what: string) => (error: { readonly message: string }) =>
  new UpdateFailed({ step: "apply", reason: `${what}: ${error.message}` })

/** A version that replaces another. */
export interface NewVersion {
  readonly from: string
  readonly to: string
  /** SHA-256 in hex. */
  readonly hash: string
  /** Seconds in which it registers. */
  readonly seconds: number
}

const trialOf = ({ from, hash, seconds, to }: NewVersion): Trial => ({
  from,
  to,
  digest: hash,
  seconds,
  starts: 1,
  failed: undefined,
  said: false
})

const isWindows = process.platform === "win32"

export interface ExecutableFile {
  readonly path: string
  readonly places: ReturnType<typeof placesOf>
  /** The note of a trial, if there is one. */
  readonly readTrial: Effect.Effect<Trial | undefined>
  /** Milliseconds since the note was written. */
  readonly trialAge: Effect.Effect<number>
  /** SHA-256 in hex. */
  readonly digest: Effect.Effect<string, UpdateFailed>
  /** Fails with the reason if this user cannot replace the program. */
  readonly replaceable: Effect.Effect<void, UpdateFailed>
  /** Puts a verified program beside this one, for a trial. */
  readonly stage: (content: Uint8Array, version: NewVersion) => Effect.Effect<void, UpdateFailed>
  /** Puts a verified program in the place of this one, which is kept. */
  readonly replace: (content: Uint8Array, version: NewVersion) => Effect.Effect<void, UpdateFailed>
  /** Counts a start of a version on trial. */
  readonly started: (trial: Trial) => Effect.Effect<void, UpdateFailed>
  /** Marks the failure of a version as reported by an event. */
  readonly reported: (trial: Trial) => Effect.Effect<void, UpdateFailed>
  /** Whether the new version waits beside the program. */
  readonly isWaiting: Effect.Effect<boolean>
  /** Whether the old program exists and can be restored. */
  readonly isKept: Effect.Effect<boolean>
  /** Keeps the new version: removes the note, so that nothing is restored, and the old version. */
  readonly confirm: (trial: Trial) => Effect.Effect<void>
  /** Removes the remains of a trial that is over. */
  readonly clear: Effect.Effect<void>
  /** Restores the old version; the new one is not tried again automatically. */
  readonly rollBack: (trial: Trial, how: string) => Effect.Effect<void, UpdateFailed>
}

interface Place {
  readonly fs: FileSystem.FileSystem
  readonly path: string
  readonly folder: string
  readonly places: ExecutableFile["places"]
}

const remove = ({ fs }: Place, path: string) => fs.remove(path, { force: true })

const exists = ({ fs }: Place, path: string) => Effect.orElseSucceed(fs.exists(path), () => false)

/** Whole and on the disk when this returns. */
const write = Effect.fnUntraced(function* (place: Place, path: string, content: Uint8Array, mode: number) {
  yield* remove(place, path)
  const file = yield* place.fs.open(path, { flag: "wx", mode })
  yield* file.writeAll(content)
  yield* file.sync
  yield* place.fs.chmod(path, mode)
}, Effect.scoped)

/** A rename is durable when its folder is synced; Windows does not support that. */
const flush = ({ folder, fs }: Place) =>
  isWindows ? Effect.void : Effect.scoped(Effect.flatMap(fs.open(folder, { flag: "r" }), (handle) => handle.sync))

const writeTrial = (place: Place, trial: Trial) => {
  const path = place.places.trial
  return write(place, `${path}.new`, Bytes.fromText(JSON.stringify(trial)), 0o644).pipe(
    Effect.andThen(place.fs.rename(`${path}.new`, path)),
    Effect.andThen(flush(place)),
    Effect.mapError(failed(`${path} cannot be written`))
  )
}

/** The same file as a hard link, or a copy if the disk has no hard links. */
const keep = Effect.fnUntraced(function* (place: Place) {
  const { fs, path, places } = place
  const kept = `${places.old}.new`
  yield* remove(place, kept)
  yield* fs.link(path, kept).pipe(Effect.catch(() => fs.copyFile(path, kept)))
  yield* fs.rename(kept, places.old)
})

const put = Effect.fnUntraced(function* (place: Place, from: string) {
  const { fs, path, places } = place
  // Windows renames nothing over a program that runs; it does rename the program.
  if (isWindows) yield* fs.rename(path, places.running)
  yield* fs.rename(from, path)
  yield* flush(place)
})

/** It must run here, load what serving needs, and have the expected version. */
const writeNew = Effect.fnUntraced(function* (place: Place, content: Uint8Array, { to }: NewVersion) {
  const path = place.places.new
  yield* Effect.mapError(write(place, path, content, 0o755), failed(`${path} cannot be written`))
  if (yield* hasVersion(path, to)) return
  yield* Effect.ignore(remove(place, path))
  return yield* new UpdateFailed({ step: "apply", reason: `version ${to} does not run on this machine` })
})

const readTrial = ({ fs, places }: Place) =>
  Effect.map(
    Effect.orElseSucceed(fs.readFileString(places.trial), () => ""),
    decode
  )

const trialAge = ({ fs, places }: Place) =>
  Effect.gen(function* () {
    const { mtime } = yield* fs.stat(places.trial)
    const written = Option.getOrUndefined(mtime)?.getTime() ?? 0
    return (yield* Clock.currentTimeMillis) - written
  }).pipe(Effect.orElseSucceed(() => Number.POSITIVE_INFINITY))

const digest = ({ fs, path }: Place) =>
  Stream.runFold(
    fs.stream(path),
    () => createHash("sha256"),
    (hash, part) => hash.update(part)
  ).pipe(
    Effect.mapError(failed(`${path} cannot be read`)),
    Effect.map((hash) => hash.digest("hex"))
  )

const stage = Effect.fn("ExecutableFile.stage")(function* (place: Place, content: Uint8Array, version: NewVersion) {
  const { fs, places } = place
  yield* writeNew(place, content, version)
  yield* Effect.mapError(
    Effect.all([remove(place, places.old), fs.rename(places.new, places.next), flush(place)]),
    failed(`${places.next} cannot be written`)
  )
  yield* writeTrial(place, trialOf(version))
})

const replace = Effect.fn("ExecutableFile.replace")(function* (place: Place, content: Uint8Array, version: NewVersion) {
  const { path, places } = place
  yield* writeNew(place, content, version)
  yield* Effect.mapError(Effect.andThen(remove(place, places.next), keep(place)), failed(`${path} cannot be kept`))
  yield* writeTrial(place, { ...trialOf(version), starts: 0 })
  yield* Effect.mapError(put(place, places.new), failed(`${path} cannot be replaced`))
})

const confirm = Effect.fnUntraced(
  function* (place: Place, { digest }: Trial) {
    const { places } = place
    // Another agent of this machine may have confirmed it and downloaded an even newer version.
    if ((yield* readTrial(place))?.digest !== digest) return
    if (yield* exists(place, places.next)) yield* put(place, places.next)
    yield* remove(place, places.trial)
    yield* remove(place, places.old)
  },
  (confirming) => Effect.ignore(confirming)
)

const rollBack = Effect.fnUntraced(function* (place: Place, trial: Trial, how: string) {
  const { path, places } = place
  yield* writeTrial(place, { ...trial, failed: how })
  const undo = Effect.gen(function* () {
    if (yield* exists(place, places.next)) yield* remove(place, places.next)
    else if (yield* exists(place, places.old)) yield* put(place, places.old)
  })
  yield* Effect.mapError(undo, failed(`${path} cannot be put back`))
})

/** The program at a path. */
export const make = (path: string) =>
  Effect.map(FileSystem.FileSystem, (fs): ExecutableFile => {
    const places = placesOf(path)
    const place: Place = { fs, path, folder: dirname(path), places }
    return {
      path,
      places,
      readTrial: readTrial(place),
      trialAge: trialAge(place),
      digest: digest(place),
      replaceable: Effect.mapError(
        fs.access(place.folder, { writable: true }),
        () =>
          new UpdateFailed({
            step: "apply",
            reason: `${place.folder} cannot be written by this user: update it as the user or with the tool that installed it`
          })
      ),
      stage: (content, version) => stage(place, content, version),
      replace: (content, version) => replace(place, content, version),
      started: (trial) => writeTrial(place, { ...trial, starts: trial.starts + 1 }),
      reported: (trial) => writeTrial(place, { ...trial, said: true }),
      isWaiting: exists(place, places.next),
      isKept: exists(place, places.old),
      confirm: (trial) => confirm(place, trial),
      clear: Effect.ignore(
        Effect.all([remove(place, places.trial), remove(place, places.old), remove(place, places.next)])
      ),
      rollBack: (trial, how) => rollBack(place, trial, how)
    }
  })
