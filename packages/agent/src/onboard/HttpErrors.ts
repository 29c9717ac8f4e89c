/**
 * Why a call of the control plane got no answer that can be used, without the address: paths of the contract hold routing tokens,
 * and what is said here goes to logs and screens.
 */
import { HttpClientError } from "effect/http"
import { ProxyFailed } from "../carrier/OutgoingProxy.ts"

/** The innermost message: the system's own words are below those of the client. */
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
