/** Edge servers: which live, what they report, and the orders that they get. */
import { Layer } from "effect"
import { EdgeFacts } from "./EdgeFacts.ts"
import { EdgeHealth } from "./EdgeHealth.ts"
import { Edges } from "./Edges.ts"
import { LiveEdges } from "./LiveEdges.ts"
import { Outbox } from "./Outbox.ts"
import { RefusedOrders } from "./RefusedOrders.ts"
import { TicketKeys } from "./TicketKeys.ts"

export const layer = Layer.mergeAll(
  EdgeFacts.layer,
  EdgeHealth.layer,
  Edges.layer,
  LiveEdges.layer,
  Outbox.layer,
  TicketKeys.layer,
  RefusedOrders.layer
)
