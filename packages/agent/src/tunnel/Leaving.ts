/** When a tunnel that this process serves is left, while the process goes on. */
import { Context, Effect } from "effect"

/**
 * Succeeds when the tunnel is to be left: visitors go elsewhere from then on, and running visits take as long as they need. Never
 * by default.
 */
export const Leaving = Context.Reference<Effect.Effect<void>>("agent/tunnel/Registrar/Leaving", {
  defaultValue: () => Effect.never
})
