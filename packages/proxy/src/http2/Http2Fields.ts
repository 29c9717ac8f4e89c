/** The fields of an HTTP/2 visitor's request for an HTTP/1.1 origin: what only the edge may say is replaced. */
import { originCookies } from "@catenet/wire/transport/GateCookies"
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2"
import { editHeaders } from "../FieldEdits.ts"
import { isEndToEnd, isRequestId, requestId } from "../FieldNames.ts"
import { newRequestId, type Visitor, visitorFields } from "../http1/RequestHead.ts"

const passes = (name: string) => !name.startsWith(":") && name !== "expect" && name !== "cookie" && isEndToEnd(name)

const cookieFields = (cookie: string | undefined) => {
  const left = cookie === undefined ? undefined : originCookies(cookie)
  return left === undefined ? {} : { cookie: left }
}

/** Node joins several fields of these names. */
const textOf = (value: string | ReadonlyArray<string> | undefined) => (typeof value === "string" ? value : undefined)

/** The request's fields for the origin. With `body` its end is marked by chunks where no length says it. */
export const toOrigin = (
  headers: IncomingHttpHeaders,
  visitor: Visitor,
  authority: string,
  body: boolean
): OutgoingHttpHeaders => {
  const edits = visitor.edits?.request ?? []
  const id = headers[requestId]
  const hasRequestId = typeof id === "string" && isRequestId(id)
  const passed: OutgoingHttpHeaders = {
    ...Object.fromEntries(
      Object.entries(headers).filter(([name]) => passes(name) && (hasRequestId || name !== requestId))
    ),
    ...cookieFields(headers.cookie)
  }
  return {
    Host: authority,
    ...(edits.length === 0 ? passed : editHeaders(passed, edits)),
    ...(headers["content-length"] === undefined ? {} : { "Content-Length": headers["content-length"] }),
    ...(body && headers["content-length"] === undefined ? { "Transfer-Encoding": "chunked" } : {}),
    ...(headers["te"] === "trailers" ? { TE: "trailers", Connection: "TE" } : {}),
    ...(hasRequestId ? {} : { "X-Request-Id": newRequestId() }),
    ...visitorFields(visitor, authority, {
      forwardedFor: textOf(headers["x-forwarded-for"]),
      forwarded: textOf(headers["forwarded"])
    })
  }
}
