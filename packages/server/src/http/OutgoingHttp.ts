/**
 * The HTTP client for the services that are configured: the identity provider, the edges, DNS. It follows no redirect, so no
 * secret goes to another address, and bounds every answer.
 */
import { strictFetch } from "@catenet/platform/StrictFetch"
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"

const mebibyte = 1_048_576

/** Bytes of an answer of the identity provider or of a DNS service. */
export const longestAnswer = mebibyte
/** Bytes of an answer of an edge: a page of receipts, a metrics page, the facts of a thousand tunnels. */
export const longestEdgeAnswer = 16 * mebibyte

/** For libraries that bring their own client. */
export const fetchOf = (most: number) => strictFetch(globalThis.fetch, most)

const layerOf = (most: number) =>
  FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetchOf(most))))

export const layer = layerOf(longestAnswer)
export const layerToEdges = layerOf(longestEdgeAnswer)
