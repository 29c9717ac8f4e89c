/** A registration that an edge has accepted, whatever carries it. */
import type { Effect } from "effect"
import type { RegistrationRefused } from "./Registration.ts"

export interface Link {
  /** `host:port` of the edge. */
  readonly edge: string
  readonly carrier: "mux" | "slots"
  /** Succeeds with the reason when the registration has ended; fails when it ended because the edge took it back for good. */
  readonly ended: Effect.Effect<string, RegistrationRefused>
  /** Grows whenever anything arrives from the edge. */
  received(): number
  /** Asks the edge for no more streams; those that run go on. */
  retire(): void
  /** After `retire`: waits until the last stream has ended. */
  readonly drained: Effect.Effect<void>
  /** Ends everything at once. */
  close(): void
}
