/**
 * The state of a trial version when the program starts, and its end once it has registered. A failed trial is handled by its
 * parent, the old version, so nothing of the new one needs to work for that.
 */
import { Effect } from "effect"
import { isSea } from "node:sea"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { version } from "../Version.ts"
import * as ExecutableFile from "./ExecutableFile.ts"
import { programOf, type Trial } from "./TrialFiles.ts"
import { supervise } from "./TrialParent.ts"
import * as TrialRole from "./TrialRole.ts"
import { environment, hasParent } from "./TrialRole.ts"

/** Hands over to the version on trial, or to the program that replaced this one. Nothing may be open any more. */
const args = () => process.argv.slice(2)

/** This process becomes the trial's parent, as the executable that is kept for it. It never returns. */
export const withTrial = (parent: string) =>
  Effect.callback<never>(() => {
    // The waiting parent already continues with the newer version.
    if (hasParent()) process.exit(0)
    if (process.platform !== "win32") process.execve?.(parent, [parent, ...args()], environment("parent"))
    supervise(programOf(parent), args())
  })

/** Starts that a version on trial has; one that the machine ends each time, with the parent, uses them up. */
export const maxStarts = 5

export interface Started {
  readonly program: ExecutableFile.ExecutableFile
  /** This process is on trial. */
  readonly trial: Trial | undefined
  /** The executable that supervises the trial, before this process serves. */
  readonly parent: string | undefined
  /** A version that was tried before this one was restored. */
  readonly rejected: Trial | undefined
}

/** The program as one file, with what an earlier update has left; `undefined` if Node runs it from a file. */
export const begin = Effect.fn("Trial.begin")(function* (
  executable: string | undefined = isSea() ? process.execPath : undefined,
  running: string = version,
  isChild = TrialRole.role === "child"
) {
  if (executable === undefined) return undefined
  const program = yield* ExecutableFile.make(programOf(executable))
  const none: Started = { program, trial: undefined, parent: undefined, rejected: undefined }
  const noted = yield* program.readTrial
  if (noted === undefined) return none
  const isNew = noted.to === running
  if (noted.failed !== undefined && !isNew) return { ...none, rejected: noted }
  if (isChild && isNew) return { ...none, trial: noted }
  // A version waiting beside this one, or this one with the old version beside it; otherwise an update was interrupted or a
  // person intervened.
  const parent =
    noted.from === running && (yield* program.isWaiting)
      ? program.path
      : isNew && (yield* program.isKept)
        ? program.places.old
        : undefined
  if (parent === undefined) {
    yield* program.clear
    return none
  }
  // A parent that ended between the note of the failure and the rename, or one that the machine ended too often.
  if (noted.failed !== undefined || noted.starts >= maxStarts) {
    const how = noted.failed ?? `did not register in ${maxStarts} starts`
    yield* Effect.ignore(program.rollBack(noted, how))
    return isNew ? { ...none, parent: program.path } : { ...none, rejected: { ...noted, failed: how } }
  }
  // If the note cannot be written, the old program could not be restored either.
  return yield* Effect.match(program.started(noted), {
    onFailure: () => none,
    onSuccess: () => ({ ...none, parent })
  })
})

/** Runs the serving agent; a version on trial is kept once it has registered. */
export const guard = <A, E, R>(started: Started | undefined, serving: Effect.Effect<A, E, R>) => {
  const { program, trial } = started ?? {}
  if (program === undefined || trial === undefined) return serving
  const registered = Effect.gen(function* () {
    const { session } = yield* AgentMetrics
    while (session.live === 0) yield* Effect.sleep("100 millis")
    yield* program.confirm(trial)
    yield* Effect.logInfo(`version ${trial.to} has registered, and stays`)
    return yield* Effect.never
  })
  return Effect.raceFirst(serving, registered)
}
