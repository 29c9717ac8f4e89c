/** Unix time in whole seconds, as records that are signed or stored hold it. */
import { Clock, Effect } from "effect"

/** The second that a moment in Unix milliseconds lies in. */
export const toUnixSeconds = (millis: number): number => Math.floor(millis / 1000)

/** The present second of the `Clock` service. */
export const unixSeconds: Effect.Effect<number> = Effect.map(Clock.currentTimeMillis, toUnixSeconds)

/** The same for layouts with 64-bit integers. */
export const unixSecondsBigInt: Effect.Effect<bigint> = Effect.map(unixSeconds, BigInt)
