/** Headers of every answer. A page brings its own content policy and caching, which are kept. */
import { HttpServerResponse } from "effect/http"

const apiOnly: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin"
}

/** Adds the headers that the answer does not have, and its name. */
export const make = (options: { readonly https: boolean }) => {
  const standard: Readonly<Record<string, string>> = options.https
    ? { ...apiOnly, "strict-transport-security": "max-age=31536000; includeSubDomains" }
    : apiOnly
  return (response: HttpServerResponse.HttpServerResponse, idHeader: string, id: string) =>
    HttpServerResponse.setHeaders(response, { ...standard, ...response.headers, [idHeader]: id })
}
