/**
 * The file of this program, replaced by a newer one. Whatever ends the process at whatever step, the file is whole: the old
 * program or the new one, by one rename. The old one is kept beside it until the new one has registered; the note of the trial,
 * which is there before the rename, says which is which.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import { Effect, FileSystem, Option, Schedule, Schema, Stream } from "effect"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { basename, dirname, join } from "node:path"
import { UpdateFailed } from "./Candidate.ts"

/** A new version that has not registered yet, or one that did not and is not tried again. */
const Trial = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  /** SHA-256 of the new program, in hex. */
  digest: Schema.String,
  starts: Schema.Int,
  failed: Schema.Boolean,
  /** Whether the failure is an event already. */
  said: Schema.Boolean
})
export type Trial = typeof Trial.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Trial))

/** Milliseconds in which a program says its version; a machine may be busy. */
const versionBound = 30_000

const says = (path: string, version: string) =>
  Effect.callback<boolean, "busy">((resume) => {
    execFile(path, ["--version"], { timeout: versionBound, env: {} }, (error, stdout) =>
      error?.code === "ETXTBSY"
        ? resume(Effect.fail("busy"))
        : resume(Effect.succeed(error === null && stdout.trim() === `ct-agent ${version}`))
    )
  }).pipe(
    // A process that was started meanwhile has the file open for a moment, as it was being written.
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 50 }),
    Effect.orElseSucceed(() => false)
  )

const failed = (what: string) => (error: { readonly message: string }) =>
  new UpdateFailed({ step: "apply", reason: `${what}: ${error.message}` })

const isWindows = process.platform === "win32"

/** The program at a path. */
export const make = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = dirname(path)
  const beside = (suffix: string) => join(folder, `.${basename(path)}.${suffix}`)
  const places = { next: beside("new"), old: beside("old"), trial: beside("trial") }
  const gone = (place: string) => fs.remove(place, { force: true })

  /** Whole and on the disk when this returns. */
  const write = Effect.fnUntraced(function* (place: string, content: Uint8Array, mode: number) {
    yield* gone(place)
    const file = yield* fs.open(place, { flag: "wx", mode })
    yield* file.writeAll(content)
    yield* file.sync
    yield* fs.chmod(place, mode)
  }, Effect.scoped)

  /** A rename is on the disk when its folder is; Windows cannot be asked for that. */
  const flush = isWindows
    ? Effect.void
    : Effect.scoped(Effect.flatMap(fs.open(folder, { flag: "r" }), (handle) => handle.sync))

  const writeTrial = Effect.fnUntraced(
    function* (trial: Trial) {
      yield* write(`${places.trial}.new`, Bytes.fromText(JSON.stringify(trial)), 0o644)
      yield* fs.rename(`${places.trial}.new`, places.trial)
      yield* flush
    },
    Effect.mapError(failed(`${places.trial} cannot be written`))
  )

  /** The same file by a second name, or a copy where the disk has no such names. */
  const keep = Effect.gen(function* () {
    const kept = `${places.old}.new`
    yield* gone(kept)
    yield* fs.link(path, kept).pipe(Effect.catch(() => fs.copyFile(path, kept)))
    yield* fs.rename(kept, places.old)
  })

  const put = Effect.fnUntraced(function* (from: string) {
    // Windows renames nothing over a program that runs; it does rename the program.
    if (isWindows) yield* fs.rename(path, beside("running"))
    yield* fs.rename(from, path)
    yield* flush
  })

  return {
    path,
    places,

    readTrial: Effect.map(
      Effect.orElseSucceed(fs.readFileString(places.trial), () => ""),
      (text) => Option.getOrUndefined(decode(text))
    ),

    /** SHA-256 in hex. */
    digest: Effect.map(
      Effect.mapError(
        Stream.runFold(
          fs.stream(path),
          () => createHash("sha256"),
          (hash, part) => hash.update(part)
        ),
        failed(`${path} cannot be read`)
      ),
      (hash) => hash.digest("hex")
    ),

    /** Fails with the reason where this user cannot replace the program. */
    replaceable: Effect.mapError(
      fs.access(folder, { writable: true }),
      () =>
        new UpdateFailed({
          step: "apply",
          reason: `${folder} cannot be written by this user: update it as the user or with the tool that installed it`
        })
    ),

    /** Puts a verified program in the place of this one. It must run here and be the version that it is meant to be. */
    replace: Effect.fn("ProgramFile.replace")(function* (
      content: Uint8Array,
      { from, hash, to }: { readonly from: string; readonly to: string; readonly hash: string }
    ) {
      yield* Effect.mapError(write(places.next, content, 0o755), failed(`${places.next} cannot be written`))
      if (!(yield* says(places.next, to))) {
        yield* Effect.ignore(gone(places.next))
        return yield* new UpdateFailed({ step: "apply", reason: `version ${to} does not run on this machine` })
      }
      yield* Effect.mapError(keep, failed(`${path} cannot be kept`))
      yield* writeTrial({ from, to, digest: hash, starts: 0, failed: false, said: false })
      yield* Effect.mapError(put(places.next), failed(`${path} cannot be replaced`))
    }),

    /** Counts a start of a version on trial. */
    started: (trial: Trial) => {
      const next = { ...trial, starts: trial.starts + 1 }
      return Effect.as(writeTrial(next), next)
    },

    /** The failure of a version has become an event. */
    said: (trial: Trial) => writeTrial({ ...trial, said: true }),

    /** Whether the old program is there to come back. */
    isKept: Effect.orElseSucceed(fs.exists(places.old), () => false),

    /** The new version stays. The note goes first: without it nothing is put back. */
    confirm: Effect.ignore(Effect.andThen(gone(places.trial), gone(places.old))),

    /** The old version comes back, and the new one is not tried again by itself. */
    rollBack: (trial: Trial) =>
      Effect.andThen(
        writeTrial({ ...trial, failed: true }),
        Effect.mapError(put(places.old), failed(`${path} cannot be put back`))
      )
  }
})
export type ProgramFile = Effect.Success<ReturnType<typeof make>>
