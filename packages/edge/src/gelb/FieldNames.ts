/**
 * Which fields of a visitor's request reach the origin. Origins that hand fields on as variables (CGI, WSGI, PHP) read
 * `X_Real_Ip` as `X-Real-Ip`, so names are compared with hyphens for underscores.
 */

const ours = new Set(["forwarded", "x-real-ip"])

const hyphenated = (key: string) => (key.includes("_") ? key.replaceAll("_", "-") : key)

/** Only the edge may say it. `key` is in lower case. */
const isOurs = (key: string): boolean => {
  const name = hyphenated(key)
  return name.startsWith("x-forwarded-") || name.startsWith("x-gate-") || ours.has(name)
}

/** Fields about one connection (RFC 9110 section 7.6.1), which end here. */
export const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
  "te",
  "http2-settings"
])

/** Fields that say where a message ends or where it goes; each is written anew, from what was understood. */
const structural: ReadonlySet<string> = new Set([...hopByHop, "content-length", "host"])

/** The field has another spelling than one that frames or routes a message, and would be read as it behind the edge. */
const isDisguised = (key: string) => key.includes("_") && structural.has(hyphenated(key))

/** The field may go to the origin as it is. */
export const isEndToEnd = (key: string): boolean => !structural.has(key) && !isDisguised(key) && !isOurs(key)

/** A `Connection` field of the visitor cannot take this field away (RFC 9110 section 7.6.1). */
export const isProtected = (key: string): boolean => structural.has(key)

/** What frames, routes, authorizes or changes a request has no meaning behind it (RFC 9110 section 6.5.1). */
const noTrailer = new Set([
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

export const isTrailer = (key: string): boolean => isEndToEnd(key) && !noTrailer.has(hyphenated(key))
