/** Looks for updates while the agent serves: after each interval, and at once when it is asked to. */
import { Clock, Effect, Queue } from "effect"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import type { AutoUpdate } from "../settings/UpdateVariables.ts"
import type { ExecutableFile } from "./ExecutableFile.ts"
import * as Update from "./Update.ts"

// A person or a manager of services asks a serving agent by SIGHUP to look for an update now.

/**
 * Listens until the scope ends, and gives what waits for the next SIGHUP. Without a listener the signal would end the process, so
 * it stands from before the agent is registered until nothing is served any more. One that comes while nothing waits is kept, and
 * several of them count as one.
 */
export const make = Effect.gen(function* () {
  const asked = yield* Queue.sliding<void>(1)
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const listener = () => void Queue.offerUnsafe(asked, undefined)
      process.on("SIGHUP", listener)
      return listener
    }),
    (listener) => Effect.sync(() => process.off("SIGHUP", listener))
  )
  return Queue.take(asked)
})

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
