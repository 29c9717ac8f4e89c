/** The current time in Unix seconds, as signed records use it. */
import { Clock, Effect } from "effect"

export const unixSeconds: Effect.Effect<bigint> = Effect.map(Clock.currentTimeMillis, (millis) =>
  BigInt(Math.floor(millis / 1000))
)
