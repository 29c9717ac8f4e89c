/** Alerts of tunnels: what is watched, and what is delivered. */
import { Layer } from "effect"
import { AlertDeliveries } from "./AlertDeliveries.ts"
import { Alerts } from "./Alerts.ts"
import { Outages } from "./Outages.ts"
import { TunnelWatches } from "./TunnelWatches.ts"

export const layer = Layer.mergeAll(AlertDeliveries.layer, Alerts.layer, Outages.layer, TunnelWatches.layer)
