/** Refusals of the bridge: this deployment as a member of channels, for the owners of tunnels. */
import { Schema } from "effect"
import { Problem } from "../values/Problem.ts"
import { clause } from "../values/Sentence.ts"

/** This installation has no keys for the agent bridge. */
export class BridgeNotConfigured extends Problem<BridgeNotConfigured>()("BridgeNotConfigured", {
  status: 503,
  title: "Bridge not configured",
  detail: () => "This deployment has no bridge identity: CT_BRIDGE_HOLDER_KEY and CT_BRIDGE_NOISE_KEY are not set."
}) {}

/** The tunnel has no grant for the bridge. */
export class BridgeGrantMissing extends Problem<BridgeGrantMissing>()("BridgeGrantMissing", {
  status: 404,
  title: "Bridge grant missing",
  detail: () => "No grant for the bridge is stored for this tunnel."
}) {}

/** The bridge could not reach the agent, or the agent refused the call. */
export class BridgeCallFailed extends Problem<BridgeCallFailed>()(
  "BridgeCallFailed",
  {
    status: 502,
    title: "Bridge call failed",
    detail: ({ reason }) => `The agent cannot be reached over the bridge: ${clause(reason)}.`
  },
  { reason: Schema.String }
) {}
