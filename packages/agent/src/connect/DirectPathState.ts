/** What a client process knows about the direct path to its origin. Dials nothing. */
import { Clock, Effect } from "effect"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"

/** After a failure the direct path is not tried for a while, so that not every stream waits for it. */
export const restMillis = 60_000

export interface DirectPathState {
  /** Where the origin was last reached. */
  readonly address: () => HostPort | undefined
  /** Whether a stream through the edge should ask for the direct path. */
  readonly wanted: Effect.Effect<boolean>
  /** Called when the origin was reached there. */
  readonly found: (address: HostPort) => Effect.Effect<void>
  /** Called when the direct path does not work, or the agent does not support it. */
  readonly failed: Effect.Effect<void>
}

export const make = (): DirectPathState => {
  let known: HostPort | undefined
  let restingUntil = Number.NEGATIVE_INFINITY
  return {
    address: () => known,
    wanted: Effect.map(Clock.currentTimeMillis, (now) => now >= restingUntil),
    found: (address) =>
      Effect.suspend(() => {
        const first = known === undefined
        known = address
        return first ? Effect.logInfo(`connected directly to ${formatHostPort(address)}`) : Effect.void
      }),
    failed: Effect.gen(function* () {
      if (known !== undefined) yield* Effect.logInfo("the direct path is gone; going through the edge")
      known = undefined
      restingUntil = (yield* Clock.currentTimeMillis) + restMillis
    })
  }
}
