/**
 * Fields between an HTTP/2 visitor and an HTTP/1.1 origin (RFC 9113 section 8.2, RFC 9110 section 7.6.1): hop-by-hop fields
 * stay on their side, what only the edge may say is replaced, trailers never change how a message is read.
 */
import type { IncomingMessage } from "node:http"
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2"
import { hopByHop, isEndToEnd, isTrailer } from "./FieldNames.ts"
import { originCookies } from "./GateFields.ts"
import { type Visitor, visitorFields } from "./RequestHead.ts"

/** What would frame or route an answer has no meaning behind it. */
const noAnswerTrailer = new Set([...hopByHop, "content-length", "host", "trailer"])

const passes = (name: string) => !name.startsWith(":") && name !== "expect" && name !== "cookie" && isEndToEnd(name)

const cookieFields = (cookie: string | undefined) => {
  const left = cookie === undefined ? undefined : originCookies(cookie)
  return left === undefined ? {} : { cookie: left }
}

/** The request's fields for the origin. With `body` its end is marked by chunks where no length says it. */
export const toOrigin = (
  headers: IncomingHttpHeaders,
  visitor: Visitor,
  authority: string,
  body: boolean
): OutgoingHttpHeaders => ({
  Host: authority,
  ...(headers["content-length"] === undefined ? {} : { "Content-Length": headers["content-length"] }),
  ...Object.fromEntries(Object.entries(headers).filter(([name]) => passes(name))),
  ...cookieFields(headers.cookie),
  ...(body && headers["content-length"] === undefined ? { "Transfer-Encoding": "chunked" } : {}),
  ...(headers["te"] === "trailers" ? { TE: "trailers", Connection: "TE" } : {}),
  ...visitorFields(visitor, authority)
})

/** Trailers of a request for the origin. */
export const trailersToOrigin = (trailers: IncomingHttpHeaders): ReadonlyArray<[string, string]> =>
  Object.entries(trailers).flatMap(([name, value]): Array<[string, string]> => {
    if (name.startsWith(":") || !isTrailer(name) || value === undefined) return []
    return Array.isArray(value) ? value.map((one): [string, string] => [name, one]) : [[name, value]]
  })

/** Raw pairs, so that repeated fields stay repeated. */
const collect = (raw: ReadonlyArray<string>, drops: (name: string) => boolean): OutgoingHttpHeaders => {
  const result = new Map<string, string | Array<string>>()
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase()
    const value = raw[at + 1] ?? ""
    if (drops(name)) continue
    const before = result.get(name)
    result.set(name, before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value])
  }
  return Object.fromEntries(result)
}

/** The fields of the origin's answer for the visitor. */
export const toVisitor = ({ headers, rawHeaders, statusCode }: IncomingMessage): OutgoingHttpHeaders => {
  const named = new Set((headers.connection ?? "").toLowerCase().split(/\s*,\s*/))
  return { ...collect(rawHeaders, (name) => hopByHop.has(name) || named.has(name)), ":status": statusCode ?? 502 }
}

/** The trailers of the origin's answer for the visitor. */
export const trailersToVisitor = ({ rawTrailers }: IncomingMessage): OutgoingHttpHeaders =>
  collect(rawTrailers, (name) => noAnswerTrailer.has(name))
