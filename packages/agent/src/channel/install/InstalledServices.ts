/** Keeps the programs of installed services running: restarts one that ends, and stops all with the scope. */
import { Deferred, Duration, Effect, Fiber } from "effect"
import { RestartBackoff } from "../serve/RejoinBackoff.ts"
import { InstallFailed } from "./InstallReport.ts"
import * as ServiceProcess from "./ServiceProcess.ts"

const pauses = { first: 500, longest: 60_000, steady: 60_000 }

const endOf = (code: number | null) => (code === null ? "by a signal" : `with ${code}`)

export interface InstalledServices {
  /** Succeeds when the program runs. The returned effect fails when the program ends for the first time. */
  readonly start: (
    service: ServiceProcess.Service
  ) => Effect.Effect<{ readonly firstEnd: Effect.Effect<never, InstallFailed> }, InstallFailed>
  /** Succeeds when its processes have ended. */
  readonly stop: (project: string) => Effect.Effect<void>
  /** Receives the output of this project's program. */
  readonly log: (project: string) => (line: string) => void
}

export const make = Effect.fn("InstalledServices.make")(function* () {
  const scope = yield* Effect.scope
  const context = yield* Effect.context()
  const running = new Map<string, Fiber.Fiber<unknown, unknown>>()
  const log = (project: string) => (line: string) =>
    void Effect.runForkWith(context)(Effect.logInfo(`${project}: ${line}`))

  const keep = Effect.fnUntraced(function* (
    service: ServiceProcess.Service,
    started: Deferred.Deferred<void, InstallFailed>,
    ended: Deferred.Deferred<never, InstallFailed>
  ) {
    const { project } = service
    const once = Effect.gen(function* () {
      const { ended: end } = yield* ServiceProcess.start(service, log(project))
      yield* Deferred.succeed(started, undefined)
      return yield* end
    }).pipe(
      Effect.scoped,
      Effect.tapCause((cause) => Effect.andThen(Deferred.failCause(started, cause), Effect.void))
    )
    const pause = new RestartBackoff(pauses)
    while (true) {
      const [took, result] = yield* Effect.timed(Effect.result(once))
      const how = result._tag === "Success" ? endOf(result.success) : `before it began: ${result.failure.detail}`
      const detail = `The program of the service has ended ${how}.`
      yield* Deferred.fail(ended, new InstallFailed({ step: "start", detail }))
      yield* Effect.logWarning(`${project}: the service has ended ${how}. It is started again.`)
      yield* Effect.sleep(pause.after(Duration.toMillis(took)))
    }
  })

  const services: InstalledServices = {
    log,
    start: Effect.fn("InstalledServices.start")(function* (service) {
      const started = yield* Deferred.make<void, InstallFailed>()
      const ended = yield* Deferred.make<never, InstallFailed>()
      running.set(service.project, yield* Effect.forkIn(keep(service, started, ended), scope))
      yield* Deferred.await(started)
      return { firstEnd: Deferred.await(ended) }
    }),
    stop: Effect.fn("InstalledServices.stop")(function* (project) {
      const fiber = running.get(project)
      running.delete(project)
      if (fiber !== undefined) yield* Fiber.interrupt(fiber)
    })
  }
  return services
})
