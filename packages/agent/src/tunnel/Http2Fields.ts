/**
 * The fields of an HTTP/2 client's request for an HTTP/1.1 origin. Nothing is added; what only a login gate may say, and its cookies,
 * are left out.
 */
import { originCookies } from "@catenet/wire/transport/GateCookies"
import { hyphenated, isStructural } from "@catenet/wire/transport/HttpFields"
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2"

const passes = (name: string) =>
  !name.startsWith(":") &&
  !isStructural(name) &&
  name !== "cookie" &&
  hyphenated(name) !== "expect" &&
  !hyphenated(name).startsWith("x-gate-")

/** The request's fields for the origin. With a body its end is marked by chunks where no length says it. */
export const toOrigin = (headers: IncomingHttpHeaders, authority: string, hasBody: boolean): OutgoingHttpHeaders => {
  const length = headers["content-length"]
  const cookie = headers.cookie === undefined ? undefined : originCookies(headers.cookie)
  return {
    host: authority,
    ...(length === undefined ? {} : { "content-length": length }),
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => passes(name))),
    ...(cookie === undefined ? {} : { cookie }),
    ...(hasBody && length === undefined ? { "transfer-encoding": "chunked" } : {}),
    ...(headers["te"] === "trailers" ? { te: "trailers", connection: "te" } : {})
  }
}
