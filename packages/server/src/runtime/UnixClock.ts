/** The time as the platform's records hold it. */
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Clock, Effect } from "effect"

/** Whole seconds since 1970, from the `Clock` service. */
export const unixSeconds: Effect.Effect<UnixSeconds> = Effect.map(Clock.currentTimeMillis, (millis) =>
  UnixSeconds.make(Math.floor(millis / 1000))
)
