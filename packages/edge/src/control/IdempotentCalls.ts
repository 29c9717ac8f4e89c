/**
 * Calls of the control plane that change nothing there. One whose connection breaks is made once more: a connection that was kept
 * may just have been closed by the other side, and a control plane that was started again has closed them all.
 */
import { Effect } from "effect"
import type { HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"

const questions = new Set(["/internal/channel/authorize", "/internal/gate/check"])

const isIdempotent = ({ method, url }: HttpClientRequest.HttpClientRequest) =>
  method === "GET" || questions.has(new URL(url).pathname)

const isBroken = ({ reason }: HttpClientError.HttpClientError) => reason._tag === "TransportError"

type Call<R> = Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError, R>

/** The call, made twice at most. */
export const retryOnce = <R>(call: Call<R>, request: HttpClientRequest.HttpClientRequest): Call<R> =>
  isIdempotent(request) ? Effect.retry(call, { times: 1, while: isBroken }) : call
