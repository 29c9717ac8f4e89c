/** Records once per process that the stored login has expired and cannot be refreshed. */
import { Effect, Schedule } from "effect"
import * as Credential from "../login/Credential.ts"
import type { BearerSource } from "../settings/LoginVariables.ts"
import { Events } from "./Events.ts"

const interval = "30 seconds"

/** Polls until the login has expired. */
export const run = Effect.fn("LoginExpiry.run")(function* (source: BearerSource) {
  const events = yield* Events
  yield* Credential.stateOf(source).pipe(
    Effect.repeat({ schedule: Schedule.spaced(interval), until: (state) => state === "stored-expired" })
  )
  yield* events.record("credential_degraded", {})
})
