/**
 * Fields of messages that are carried between HTTP/2 and HTTP/1.1 (RFC 9113 section 8.2, RFC 9110 section 7.6.1): those about one
 * connection stay on their side, and trailers never change how a message is read. Origins that hand fields on as variables (CGI,
 * WSGI, PHP) read `X_Real_Ip` and `X.Real.Ip` as `X-Real-Ip`, so names are compared with a hyphen for every character that is no
 * letter or digit. Names are in lower case.
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
export const structural: ReadonlySet<string> = new Set([...hopByHop, "content-length", "host"])

const mergeable = /[^a-z0-9-]/
const mergeableAll = /[^a-z0-9-]/g

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
  "expect",
  "max-forwards",
  "range"
])

export const hyphenated = (name: string): string => (mergeable.test(name) ? name.replaceAll(mergeableAll, "-") : name)

/** Also in a spelling that would be read as one behind us. */
export const isStructural = (name: string): boolean => structural.has(hyphenated(name))

export const isTrailer = (name: string): boolean => !noTrailer.has(hyphenated(name))

/** Trailers of an HTTP/2 request for an HTTP/1.1 origin: those that pass. */
export const requestTrailers = (
  trailers: IncomingHttpHeaders,
  passes: (name: string) => boolean
): ReadonlyArray<[string, string]> =>
  Object.entries(trailers).flatMap(([name, value]): Array<[string, string]> => {
    if (name.startsWith(":") || value === undefined || !passes(name)) return []
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

/** Answers without a body, for which clients take a Content-Length for a fault (RFC 9110 section 8.6). */
const hasNoBody = (status: number) => status < 200 || status === 204 || status === 304

/** Some origins send both; the chunks say where the body ends (RFC 9112 section 6.3). */
export const hasTwoLengths = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined && headers["content-length"] !== undefined

/** Characters that no field value has in HTTP/2, which lenient origins send. */
// eslint-disable-next-line no-control-regex -- control characters are exactly what must be found
const controls = /[\0-\x08\x0a-\x1f\x7f]+/g

/** The fields of an HTTP/1.1 answer for an HTTP/2 client. */
export const answerFields = (answer: IncomingMessage): OutgoingHttpHeaders => {
  const { headers, rawHeaders, statusCode = 502 } = answer
  const dropped = new Set((headers.connection ?? "").toLowerCase().split(/\s*,\s*/))
  if (hasNoBody(statusCode) || hasTwoLengths(answer)) dropped.add("content-length")
  const repaired = rawHeaders.map((text) => text.replace(controls, " "))
  return { ...collect(repaired, (name) => hopByHop.has(name) || dropped.has(name)), ":status": statusCode }
}

/** The trailers of an HTTP/1.1 answer for an HTTP/2 client. */
export const answerTrailers = ({ rawTrailers }: IncomingMessage): OutgoingHttpHeaders =>
  collect(rawTrailers, (name) => !isTrailer(name))
