/** The services behind what owners hang on tunnels, each using only what stands below it. */
import { Layer } from "effect"
import { AccessWindows } from "./tunnels/AccessWindows.ts"
import { Alerts } from "./tunnels/alerts/Alerts.ts"
import { Deliveries } from "./tunnels/alerts/AlertDeliveries.ts"
import { Outages } from "./tunnels/alerts/Outages.ts"
import { Badges } from "./tunnels/records/Badges.ts"
import { Bridges } from "./channels/Bridges.ts"
import { Channels } from "./channels/Channels.ts"
import { Members } from "./channels/Members.ts"
import { Gate } from "./gate/Gate.ts"
import { GateCodes } from "./gate/GateCodes.ts"
import { GateSignIns } from "./gate/GateSignIns.ts"
import { Receipts } from "./tunnels/records/Receipts.ts"
import { EdgeFacts } from "./edges/EdgeFacts.ts"
import { Records } from "./tunnels/records/Records.ts"
import { ShareLinks } from "./tunnels/ShareLinks.ts"
import { HttpOnly } from "./tunnels/HttpOnly.ts"

export const layer = Layer.mergeAll(
  AccessWindows.layer,
  HttpOnly.layer,
  Alerts.layer,
  Outages.layer,
  Badges.layer,
  ShareLinks.layer,
  GateSignIns.layer.pipe(Layer.provideMerge(Gate.layer)),
  Records.layer,
  Receipts.layer,
  Bridges.layer.pipe(Layer.provide(Members.layer), Layer.provide(Channels.layer))
).pipe(Layer.provideMerge(Layer.mergeAll(Deliveries.layer, GateCodes.layer, EdgeFacts.layer)))
