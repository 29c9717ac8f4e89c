/** Refusals of an edge's admin API. */
import { Schema } from "effect"
import { Problem } from "../values/Problem.ts"

/** The edge is configured without the history that this route reads. */
export class HistoryDisabled extends Problem<HistoryDisabled>()("HistoryDisabled", {
  status: 404,
  title: "History disabled",
  detail: () => "This edge keeps no session history."
}) {}

/** The edge is configured without receipts. */
export class ReceiptsDisabled extends Problem<ReceiptsDisabled>()("ReceiptsDisabled", {
  status: 404,
  title: "Receipts disabled",
  detail: () => "This edge keeps no receipts."
}) {}

/** A background loop or a listener of the edge has stopped, or has not started. */
export class EdgeUnhealthy extends Problem<EdgeUnhealthy>()(
  "EdgeUnhealthy",
  {
    status: 503,
    title: "Unhealthy",
    detail: ({ stalled }) => `Not ticking: ${stalled.join(", ")}.`
  },
  { stalled: Schema.Array(Schema.String) }
) {}
