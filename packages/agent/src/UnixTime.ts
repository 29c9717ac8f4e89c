/** Unix seconds, as records that are signed have them. */
import { Clock, Effect } from "effect"

export const unixSeconds: Effect.Effect<bigint> = Effect.map(Clock.currentTimeMillis, (millis) =>
  BigInt(Math.floor(millis / 1000))
)
