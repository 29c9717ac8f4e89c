/** Whether a service that was just started works: its verify script says so, or it has run for a moment. */
import { Duration, Effect } from "effect"
import { InstallFailed } from "./InstallProblem.ts"
import type { Outcome } from "./InstallReport.ts"
import * as ServiceProcess from "./ServiceProcess.ts"

/** The whole call has 20 s, so a longer time of the manifest is cut. */
const maxSeconds = 10
const moment = "1 second"

const failed = (detail: string) => new InstallFailed({ step: "verify", detail })

const scriptExit = Effect.fnUntraced(function* (script: ServiceProcess.Service, log: (line: string) => void) {
  const { ended } = yield* ServiceProcess.start(script, log)
  return yield* ended
}, Effect.scoped)

/** What the script, which runs beside the service, has said. */
export const run = Effect.fn("StartupCheck.run")(function* (
  service: ServiceProcess.Service,
  script: { readonly path: string; readonly seconds: bigint } | undefined,
  log: (line: string) => void
) {
  if (script === undefined) {
    yield* Effect.sleep(moment)
    const none: Outcome = { exitCode: null, millis: 0 }
    return none
  }
  const seconds = Math.min(maxSeconds, Number(script.seconds))
  const [took, exitCode] = yield* Effect.timed(
    Effect.timeoutOrElse(scriptExit({ ...service, program: script.path }, log), {
      duration: `${seconds} seconds`,
      orElse: () => Effect.fail(failed(`The verify script did not end within ${seconds} s.`))
    })
  )
  if (exitCode === null) return yield* failed("The verify script was ended by a signal.")
  if (exitCode !== 0) return yield* failed(`The verify script exited with ${exitCode}.`)
  const passed: Outcome = { exitCode, millis: Duration.toMillis(took) }
  return passed
})
