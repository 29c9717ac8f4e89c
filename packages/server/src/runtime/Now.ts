/** The time as the platform's records hold it. */
import { Clock, Effect } from "effect"
import { UnixSeconds } from "@catenet/domain/values/Numbers"

/** Whole seconds since 1970, from the `Clock` service. */
export const unixSeconds: Effect.Effect<UnixSeconds> = Effect.map(Clock.currentTimeMillis, (millis) =>
  UnixSeconds.make(Math.floor(millis / 1000))
)
