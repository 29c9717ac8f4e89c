/** What an HTTP/2 visitor asks, in the words of HTTP/1.1 (RFC 9113 section 8.3.1), or why it cannot be asked so. */
import { Result } from "effect"
import type { IncomingHttpHeaders } from "node:http2"
import { BadRequest, type Visitor } from "../http1/RequestHead.ts"
import { hostnameOf, isAuthority, isOriginForm } from "../http1/RequestTarget.ts"

export interface Http2Request {
  readonly method: string
  readonly path: string
  readonly authority: string
}

const bad = (status: BadRequest["status"], reason: string) => Result.fail(new BadRequest({ status, reason }))

const misdirected = (hostname: string) => bad(421, `this connection is for ${hostname}`)

export const readRequest = (
  headers: IncomingHttpHeaders,
  { hostname }: Visitor
): Result.Result<Http2Request, BadRequest> => {
  const { ":authority": named, ":method": method = "GET", ":path": path = "/", host } = headers
  if (method === "CONNECT") return bad(405, "CONNECT is not served")
  const authorities = [named, host].filter((each) => each !== undefined)
  if (!authorities.every(isAuthority))
    return hostname === undefined ? bad(400, "malformed host") : misdirected(hostname)
  if (hostname !== undefined && authorities.some((each) => hostnameOf(each) !== hostname)) return misdirected(hostname)
  const isTarget = isOriginForm(path) || (path === "*" && method === "OPTIONS")
  return isTarget
    ? Result.succeed({ method, path, authority: authorities[0] ?? hostname ?? "" })
    : bad(400, "malformed path")
}
