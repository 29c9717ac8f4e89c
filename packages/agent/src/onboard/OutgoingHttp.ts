/** The HTTP client of the agent. It follows no redirect, so no secret goes to another address, and bounds every answer. */
import { strictFetch } from "@catenet/domain/api/StrictFetch"
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"

/** Bytes of an answer. The longest that is asked for is a certificate. */
export const longestAnswer = 65_536

export const send = strictFetch(globalThis.fetch, longestAnswer)

/** For what is longer by its nature; the answer is in memory. */
export const sendForUpTo = (most: number) => strictFetch(globalThis.fetch, most)

const sendingBy = (fetch: typeof globalThis.fetch) =>
  FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch)))

export const layer = sendingBy(send)

/** For lists of an account, which are as long as its limits permit. */
export const layerForLists = sendingBy(sendForUpTo(4_194_304))
