/** The fields of an HTTP/2 client's request for an HTTP/1.1 origin. Nothing is added. */
import { hyphenated, isStructural } from "@catenet/wire/transport/HttpFields"
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2"

const passes = (name: string) => !name.startsWith(":") && !isStructural(name) && hyphenated(name) !== "expect"

/** The request's fields for the origin. With a body its end is marked by chunks where no length says it. */
export const toOrigin = (headers: IncomingHttpHeaders, authority: string, hasBody: boolean): OutgoingHttpHeaders => {
  const length = headers["content-length"]
  return {
    host: authority,
    ...(length === undefined ? {} : { "content-length": length }),
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => passes(name))),
    ...(hasBody && length === undefined ? { "transfer-encoding": "chunked" } : {}),
    ...(headers["te"] === "trailers" ? { te: "trailers", connection: "te" } : {})
  }
}
