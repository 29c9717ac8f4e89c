/**
 * Describes why a call of the control plane failed, without its address: paths contain routing tokens, and the text goes to logs
 * and screens.
 */
import { HttpClientError } from "effect/http"
import { ProxyFailed } from "../carrier/OutgoingProxy.ts"

/** The innermost message: the system's error is below the client's. */
const innermost = (error: Error): string =>
  error.cause instanceof Error && error.cause.message !== "" ? innermost(error.cause) : error.message

export const describe = (error: unknown): string => {
  if (!HttpClientError.isHttpClientError(error)) return error instanceof Error ? error.message : String(error)
  const { reason, response } = error
  if (response !== undefined) return `it answered ${response.status}, and that cannot be used`
  const cause = "cause" in reason ? reason.cause : undefined
  return cause instanceof Error ? innermost(cause) : reason._tag
}

const isOfProxy = (error: unknown): boolean =>
  error instanceof ProxyFailed ||
  (HttpClientError.isHttpClientError(error) && "cause" in error.reason && isOfProxy(error.reason.cause)) ||
  (error instanceof Error && error.cause !== undefined && isOfProxy(error.cause))

/** What to check when the control plane did not answer. */
export const advice = (error?: unknown): string =>
  isOfProxy(error) ? "Check CT_AGENT_PROXY." : "Check CT_AGENT_CP_URL and that the control plane is up."
