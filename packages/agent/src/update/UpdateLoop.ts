/** Checks for updates while the agent serves: after each interval, and at SIGHUP. */
import { Clock, Effect, Queue } from "effect"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import type { AutoUpdate } from "../settings/UpdateVariables.ts"
import type { ExecutableFile } from "./ExecutableFile.ts"
import * as Update from "./Update.ts"

// A person or a service manager asks for an update check by SIGHUP.

/**
 * Listens until the scope ends, and returns an effect that waits for the next SIGHUP. Without a listener the signal would end the
 * process, so it is installed before the agent registers and removed after it stops serving. A signal without a waiter is kept;
 * several count as one.
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
 * Succeeds when a newer program has replaced this one. Failures are logged, and the next interval retries; `asked` ends when a
 * check is requested.
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
