/** The time as the platform's records hold it. */
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import * as UnixTime from "@catenet/platform/UnixTime"
import { Effect } from "effect"

/** Whole seconds since 1970, from the `Clock` service. */
export const unixSeconds: Effect.Effect<UnixSeconds> = Effect.map(UnixTime.unixSeconds, (seconds) =>
  UnixSeconds.make(seconds)
)
