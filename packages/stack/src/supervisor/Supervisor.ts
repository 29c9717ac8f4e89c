/**
 * Keeps a program running: starts it, waits until it serves, starts it again when it ends. A program that ends before it
 * ever served is a failure of the stack; after that it is repaired for as long as the scope lasts.
 */
import { Clock, Deferred, Duration, Effect, Schedule, type Scope } from "effect"
import { join } from "node:path"
import * as ChildProcesses from "./ChildProcesses.ts"
import { type Program, ProgramFailed, refusalIn } from "./Program.ts"
import { RotatingLog } from "./RotatingLog.ts"

export interface Options {
  /** Log files go here, one per program. */
  readonly logs: string
  /** Called at every start, so that others can find the process. */
  readonly started: (name: string, pid: number) => Effect.Effect<void>
  /** Whether the stack is ending: then a program that ends was meant to. */
  readonly stopping: () => boolean
}

const firstPause = 250
const longestPause = 5000
const readySeconds = 60

const becomesReady = (program: Program, log: RotatingLog) =>
  program.ready.pipe(
    Effect.timeout("2 seconds"),
    Effect.retry({ schedule: Schedule.spaced("50 millis") }),
    Effect.orDie,
    Effect.timeoutOrElse({
      duration: Duration.seconds(readySeconds),
      orElse: () =>
        Effect.fail(
          new ProgramFailed({
            name: program.name,
            detail: `it did not answer within ${readySeconds} s.`,
            log: log.path,
            code: 1
          })
        )
    })
  )

/** Returns when the program serves for the first time. */
export const supervise = Effect.fn("Supervisor.supervise")(function* (
  program: Program,
  options: Options
): Effect.fn.Return<void, ProgramFailed, Scope.Scope> {
  const log = new RotatingLog(join(options.logs, `${program.name}.log`))
  const served = yield* Deferred.make<void, ProgramFailed>()

  const runOnce = Effect.scoped(
    Effect.gen(function* () {
      const running = yield* ChildProcesses.start(program, log)
      yield* options.started(program.name, running.pid)
      yield* Effect.forkScoped(becomesReady(program, log).pipe(Deferred.into(served)))
      const { code, how } = yield* running.ended
      const detail = refusalIn(log.last) ?? `it ended with ${how}.`
      yield* Deferred.fail(served, new ProgramFailed({ name: program.name, detail, log: log.path, code }))
      return how
    })
  )

  const forever = Effect.gen(function* () {
    let pause = firstPause
    while (!options.stopping()) {
      const from = yield* Clock.currentTimeMillis
      const how = yield* runOnce
      const lived = (yield* Clock.currentTimeMillis) - from
      pause = lived > 10_000 ? firstPause : Math.min(pause * 2, longestPause)
      yield* Effect.sleep(pause)
      if (options.stopping()) return
      yield* Effect.logWarning(`${program.name} ended with ${how}; starting it again after ${pause} ms`)
    }
  })

  yield* Effect.forkScoped(forever)
  yield* Deferred.await(served)
})
