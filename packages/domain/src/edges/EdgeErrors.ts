/** Refusals between edges and the control plane. */
import { Schema } from "effect"
import { Problem } from "../values/Problem.ts"

// Refusals of an edge's admin API.

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
    detail: ({ stalled }) => `Stopped loops: ${stalled.join(", ")}.`
  },
  { stalled: Schema.Array(Schema.String) }
) {}

/** The edge is pinned to a key, and the heartbeat is not signed with it. */
export class HeartbeatRefused extends Problem<HeartbeatRefused>()("HeartbeatRefused", {
  status: 403,
  title: "Heartbeat refused",
  detail: () => "This edge id is pinned to a key that did not sign the heartbeat."
}) {}

/** A heartbeat must contain both key and signature, or neither. */
export class HeartbeatProofIncomplete extends Problem<HeartbeatProofIncomplete>()("HeartbeatProofIncomplete", {
  status: 400,
  title: "Heartbeat proof incomplete",
  detail: () => "Send both pubkey and signature, or neither."
}) {}

/** The request is not signed with the key to which the edge is pinned; an edge without a pinned key gets no keys and no certificates. */
export class TicketKeysRefused extends Problem<TicketKeysRefused>()("TicketKeysRefused", {
  status: 403,
  title: "Ticket keys refused",
  detail: () => "The request is not signed by the key of this edge id, or the id is not pinned to a key."
}) {}

/** A lookup takes one of token, host and port. */
export class LookupAmbiguous extends Problem<LookupAmbiguous>()("LookupAmbiguous", {
  status: 400,
  title: "Look-up ambiguous",
  detail: () => "Give one of token, host and port."
}) {}

/** No live edge serves this token, host name or port. */
export class NoLiveEdge extends Problem<NoLiveEdge>()("NoLiveEdge", {
  status: 404,
  title: "No live edge",
  detail: () => "No live edge serves this tunnel."
}) {}

/** No rejected order has this id. */
export class RefusedOrderUnknown extends Problem<RefusedOrderUnknown>()("RefusedOrderUnknown", {
  status: 404,
  title: "No such order",
  detail: () => "The order was already sent again, or a later one has replaced it."
}) {}

/** No edge has this id. */
export class EdgeUnknown extends Problem<EdgeUnknown>()("EdgeUnknown", {
  status: 404,
  title: "Edge unknown",
  detail: () => "No edge with this id has reported."
}) {}

/** The edge did not accept the order: it is unreachable or returned an error. */
export class EdgeUnavailable extends Problem<EdgeUnavailable>()("EdgeUnavailable", {
  status: 502,
  title: "Edge unavailable",
  detail: () => "The edge cannot be reached or refused the request; try again."
}) {}

/** The edge has not published its certificate authority yet. */
export class EdgeCaNotPublished extends Problem<EdgeCaNotPublished>()("EdgeCaNotPublished", {
  status: 503,
  title: "CA not published yet",
  detail: () =>
    "The edge has not published its certificate authority yet, or its file has not been copied here yet; try again shortly."
}) {}

/** Why a control plane has no root to give: its settings name no file, or one that holds no certificate. */
const noRoot = {
  unset: "CT_CP_EDGE_CERT_PATH is not set at the control plane; set it to a copy of the edge's CT_EDGE_CERT_OUT",
  unusable: "the file of CT_CP_EDGE_CERT_PATH at the control plane is no certificate that can be read; copy it again"
} as const

/** The control plane cannot obtain the edge's certificate authority; an operator must correct its settings. */
export class EdgeCaNotConfigured extends Problem<EdgeCaNotConfigured>()(
  "EdgeCaNotConfigured",
  {
    status: 503,
    title: "CA not configured",
    detail: ({ reason }) => `The certificate authority of the edge is not available: ${noRoot[reason]}.`
  },
  { reason: Schema.Literals(["unset", "unusable"]) }
) {}
