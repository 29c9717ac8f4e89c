/** The HTTP client of the agent. It follows no redirect, so no secret goes to another address, and bounds every answer. */
import { strictFetch } from "@catenet/domain/api/StrictFetch"
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"

/** Bytes of an answer. The longest that is asked for is a certificate. */
export const longestAnswer = 65_536

export const send = strictFetch(globalThis.fetch, longestAnswer)

export const layer = FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, send)))
