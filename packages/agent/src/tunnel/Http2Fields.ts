/**
 * Fields between a client that speaks HTTP/2 and an origin that speaks HTTP/1.1 (RFC 9113 section 8.2, RFC 9110 section 7.6.1):
 * those about one connection stay on their side, and trailers never change how a message is read. Nothing is added.
 */
import type { IncomingMessage } from "node:http"
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2"

/** Fields about one connection, which end here. */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
  "te",
  "http2-settings"
])

/** Fields that say where a message ends or where it goes; each is written anew, from what was understood. */
const structural: ReadonlySet<string> = new Set([...hopByHop, "content-length", "host", "expect"])

/** Origins that hand fields on as variables read `content_length` as `content-length`. */
const isStructural = (name: string) => structural.has(name) || structural.has(name.replaceAll("_", "-"))

/** What frames, routes, authorizes or changes a message has no meaning behind it (RFC 9110 section 6.5.1). */
const noTrailer: ReadonlySet<string> = new Set([
  ...structural,
  "trailer",
  "authorization",
  "proxy-authorization",
  "cookie",
  "content-encoding",
  "content-range",
  "content-type",
  "max-forwards",
  "range"
])

/** The request's fields for the origin. With a body its end is marked by chunks where no length says it. */
export const toOrigin = (headers: IncomingHttpHeaders, authority: string, hasBody: boolean): OutgoingHttpHeaders => {
  const length = headers["content-length"]
  return {
    host: authority,
    ...(length === undefined ? {} : { "content-length": length }),
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(":") && !isStructural(name))),
    ...(hasBody && length === undefined ? { "transfer-encoding": "chunked" } : {}),
    ...(headers["te"] === "trailers" ? { te: "trailers", connection: "te" } : {})
  }
}

/** Trailers of a request for the origin. */
export const trailersToOrigin = (trailers: IncomingHttpHeaders): ReadonlyArray<[string, string]> =>
  Object.entries(trailers).flatMap(([name, value]): Array<[string, string]> => {
    if (name.startsWith(":") || value === undefined || noTrailer.has(name.replaceAll("_", "-"))) return []
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

/** The fields of the origin's answer for the client. */
export const toClient = ({ headers, rawHeaders, statusCode }: IncomingMessage): OutgoingHttpHeaders => {
  const named = new Set((headers.connection ?? "").toLowerCase().split(/\s*,\s*/))
  return { ...collect(rawHeaders, (name) => hopByHop.has(name) || named.has(name)), ":status": statusCode ?? 502 }
}

/** The trailers of the origin's answer for the client. */
export const trailersToClient = ({ rawTrailers }: IncomingMessage): OutgoingHttpHeaders =>
  collect(rawTrailers, (name) => noTrailer.has(name))
