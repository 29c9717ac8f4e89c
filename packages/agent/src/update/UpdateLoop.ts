/** Looks for updates while the agent serves: after each interval, and at once when it is asked to. */
import { Clock, Effect } from "effect"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import type { AutoUpdate } from "../settings/UpdateVariables.ts"
import type { ExecutableFile } from "./ExecutableFile.ts"
import * as Update from "./Update.ts"

/**
 * Succeeds when a newer program is in the place of this one. A failure is said, and the next interval tries again; `asked` ends
 * when that is to be now.
 */
export const run = Effect.fn("UpdateLoop.run")(function* (
  { intervalSecs, source, trialSeconds }: AutoUpdate,
  program: ExecutableFile,
  running: string,
  asked: Effect.Effect<void>
) {
  const { update: state } = yield* AgentMetrics
  const events = yield* Events
  const scheduled = Effect.map(Clock.currentTimeMillis, (now) => {
    if (state.current.at === "off") state.current = { at: "scheduled", next: now + intervalSecs * 1000 }
  })
  let pause = intervalSecs
  const once = Effect.gen(function* () {
    yield* scheduled
    yield* Effect.raceFirst(Effect.sleep(`${pause} seconds`), asked)
    pause = intervalSecs
    const version = yield* Update.run({ source, program, running, state, byHand: false, trialSeconds })
    yield* events.record("update_check", { result: version === undefined ? "up-to-date" : `newer: ${version}` })
    return version
  }).pipe(
    Effect.catchTag("UpdateFailed", ({ isBusy, reason, step }) => {
      if (isBusy === true) pause = Math.min(intervalSecs, trialSeconds)
      return Effect.as(events.record("update_check", { result: `${step} failed: ${reason}` }), undefined)
    })
  )
  while (true) {
    const version = yield* once
    if (version === undefined) continue
    yield* events.record("update_applied", { version })
    return
  }
})
