/**
 * A new version shows that it can serve: it registers within two minutes of its start. Else the old program comes back and the
 * new one is not tried again by itself, until a newer one is released or a person asks.
 */
import { clause, ended } from "@catenet/domain/values/Sentence"
import { Effect, Option } from "effect"
import { isSea } from "node:sea"
import { StateUnusable } from "../Failure.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { version } from "../Version.ts"
import type { UpdateFailed } from "./Candidate.ts"
import * as ProgramFile from "./ProgramFile.ts"

/** Seconds in which a version on trial registers. */
const trialSeconds = 120

/** Starts that a version on trial has; one that ends before it can say anything uses them up. */
export const mostStarts = 5

export interface Started {
  readonly program: ProgramFile.ProgramFile
  readonly trial: ProgramFile.Trial | undefined
  /** A version that was tried before this one came back. */
  readonly rejected: ProgramFile.Trial | undefined
}

/** The program as one file, with what an update before this start has left; `undefined` where Node runs it from a file. */
export const begin = Effect.fn("Trial.begin")(function* (
  path: string | undefined = isSea() ? process.execPath : undefined,
  running: string = version
) {
  if (path === undefined) return undefined
  const program = yield* ProgramFile.make(path)
  const none = { program, trial: undefined, rejected: undefined }
  const noted = yield* program.readTrial
  if (noted === undefined) return none
  if (noted.failed && noted.to !== running) return { ...none, rejected: noted }
  if (noted.to !== running || !(yield* program.isKept)) {
    // The process ended between the note and the rename, or the program was replaced by hand.
    yield* program.confirm
    return none
  }
  // The process ended between the note of the failure and the rename.
  if (noted.failed) return { ...none, trial: noted }
  // Where the note cannot be written, the old program could not be put back either.
  const trial = yield* Effect.option(program.started(noted))
  return { ...none, trial: Option.getOrUndefined(trial) }
})

const unusable = (path: string) => (error: UpdateFailed) => new StateUnusable({ path, detail: ended(error.reason) })

const rolledBack = Effect.fnUntraced(function* ({ program }: Started, trial: ProgramFile.Trial, how: string) {
  yield* Effect.mapError(program.rollBack(trial), unusable(program.path))
  yield* Effect.logWarning(
    `version ${trial.to} ${clause(how)}; version ${trial.from} is back, and ${trial.to} is not tried again`
  )
  return "restart" as const
})

/**
 * Runs what serves. It ends with `restart` where the version did not register in time, ended with a failure before it had, or
 * has used up its starts; then the old program is in its place.
 */
export const guard = Effect.fnUntraced(function* <A, E, R>(
  started: Started | undefined,
  serving: Effect.Effect<A, E, R>,
  seconds = trialSeconds
) {
  const { program, trial } = started ?? {}
  if (started === undefined || program === undefined || trial === undefined) return yield* serving
  if (trial.failed || trial.starts > mostStarts)
    return yield* rolledBack(started, trial, `did not register in ${mostStarts} starts or in time`)
  let confirmed = false
  const { session } = yield* AgentMetrics
  const registered = Effect.gen(function* () {
    while (session.live === 0) yield* Effect.sleep("100 millis")
    confirmed = true
    yield* program.confirm
    yield* Effect.logInfo(`version ${trial.to} has registered, and stays`)
    return true
  })
  const watched = registered.pipe(
    Effect.timeoutOrElse({ duration: `${seconds} seconds`, orElse: () => Effect.succeed(false) }),
    Effect.flatMap((stays) =>
      stays ? Effect.never : rolledBack(started, trial, `did not register within ${seconds} s`)
    )
  )
  const attempted = serving.pipe(
    Effect.catch((error): Effect.Effect<"restart", E | StateUnusable> =>
      confirmed ? Effect.fail(error) : rolledBack(started, trial, "ended before it had registered")
    )
  )
  return yield* Effect.raceFirst(attempted, watched)
})
