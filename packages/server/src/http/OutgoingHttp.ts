/**
 * The HTTP client for the services that are configured: the identity provider, the edges, DNS. It follows no redirect, so no
 * secret goes to another address, and bounds every answer.
 */
import { Http } from "@catenet/platform/Http"
import { clientBy, strictFetch } from "@catenet/platform/OutgoingHttp"
import { Effect } from "effect"

const mebibyte = 1_048_576

/** Bytes of an answer of the identity provider or of a DNS service. */
export const longestAnswer = mebibyte
/** Bytes of an answer of an edge: a page of receipts, a metrics page, the facts of a thousand tunnels. */
export const longestEdgeAnswer = 16 * mebibyte

/** For libraries that bring their own client. */
export const fetchOf = (most: number) => strictFetch(Http.fetch, most)

export const layer = clientBy(Effect.sync(() => fetchOf(longestAnswer)))
export const layerToEdges = clientBy(Effect.sync(() => fetchOf(longestEdgeAnswer)))
