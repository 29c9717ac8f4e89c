/** The services behind what owners hang on tunnels, each using only what stands below it. */
import { Layer } from "effect"
import { AccessWindows } from "../accessWindows/AccessWindows.ts"
import { Alerts } from "../alerts/Alerts.ts"
import { Deliveries } from "../alerts/Deliveries.ts"
import { Outages } from "../alerts/Outages.ts"
import { Badges } from "../badges/Badges.ts"
import { Bridges } from "../bridge/Bridges.ts"
import { Channels } from "../channels/Channels.ts"
import { Members } from "../channels/Members.ts"
import { Gate } from "../gate/Gate.ts"
import { GateCodes } from "../gate/GateCodes.ts"
import { GateSignIns } from "../gate/GateSignIns.ts"
import { Receipts } from "../receipts/Receipts.ts"
import { EdgeFacts } from "../records/EdgeFacts.ts"
import { Records } from "../records/Records.ts"
import { ShareLinks } from "../shareLinks/ShareLinks.ts"
import { HttpOnly } from "../tunnels/HttpOnly.ts"

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
