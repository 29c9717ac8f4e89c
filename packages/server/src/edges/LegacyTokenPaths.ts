/**
 * Edges of the reference kind take the token of a tunnel in the path alone. One that answers 404 to the header form is asked by
 * the path once; where that works it is remembered, and asked so from then on.
 */
import { Effect } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"

const tokenHeader = "x-ct-routing-token"

const ends: ReadonlyArray<readonly [RegExp, (token: string) => string]> = [
  [/\/admin\/authorize-host\/([^/?#]+)$/u, (token) => `/admin/authorize-host/${token}/$1`],
  [/\/admin\/(revoke|tunnel-status)$/u, (token) => `/admin/$1/${token}`],
  [/\/internal\/tunnel\/(history|receipts)$/u, (token) => `/internal/tunnel/$1/${token}`]
]

/** The same request with the token in its path; nothing where there is no such form. */
const pathFormOf = (request: HttpClientRequest.HttpClientRequest) => {
  const token = request.headers[tokenHeader]
  const end = ends.find(([pattern]) => pattern.test(request.url))
  if (token === undefined || end === undefined) return
  const [pattern, path] = end
  return request.pipe(
    HttpClientRequest.setUrl(request.url.replace(pattern, path(token))),
    HttpClientRequest.removeHeader(tokenHeader)
  )
}

/** Our own edge knows the route, and says so by a problem: it keeps no history, or no receipts. */
const isOfRoute = ({ headers }: HttpClientResponse.HttpClientResponse) =>
  headers["content-type"]?.startsWith("application/problem+json") === true

/** The client of one edge, and whether it is asked by the path. */
export const make = (http: HttpClient.HttpClient) => {
  let byPath = false
  const client = HttpClient.makeWith(
    Effect.flatMap((request: HttpClientRequest.HttpClientRequest) => {
      const other = pathFormOf(request)
      if (other === undefined) return http.execute(request)
      const asked = http.execute(byPath ? other : request)
      return Effect.flatMap(asked, (response) => {
        if (response.status !== 404 || isOfRoute(response)) return Effect.succeed(response)
        if (byPath) {
          // It may have become another edge.
          byPath = false
          return Effect.succeed(response)
        }
        return Effect.tap(http.execute(other), ({ status }) =>
          Effect.sync(() => {
            byPath = status !== 404
          })
        )
      })
    }),
    (request: HttpClientRequest.HttpClientRequest) => Effect.succeed(request)
  )
  return { client, isByPath: () => byPath }
}
