/** Which fields of a visitor's request reach the origin. CGI, PHP and WSGI hand fields on as
 * variables, where `X-Gate.Email` is `X-Gate-Email`: every character of a name that is no letter or digit is one and the same. */
import * as HttpFields from "@catenet/wire/transport/HttpFields"

const ours = new Set(["forwarded", "x-real-ip"])

/** The visitor may name its request; another spelling of it would be a second name to some origins. */
export const requestId = "x-request-id"

/** Only the proxy may say it. `key` is in lower case. */
const isOurs = (key: string): boolean => {
  const name = HttpFields.hyphenated(key)
  return (
    name.startsWith("x-forwarded-") ||
    name.startsWith("x-gate-") ||
    ours.has(name) ||
    (name === requestId && key !== requestId)
  )
}

/** Printable, and no longer than any identifier in use. */
const requestIdPattern = /^[\x21-\x7e]{1,200}$/

/** The visitor's name for its request is one that may be passed on; otherwise the proxy makes one. */
export const isRequestId = (value: string): boolean => requestIdPattern.test(value)

/** The field may go to the origin as it is. */
export const isEndToEnd = (key: string): boolean => !HttpFields.isStructural(key) && !isOurs(key)

/** A `Connection` field of the visitor cannot take this field away (RFC 9110 section 7.6.1). */
export const isProtected = (key: string): boolean => HttpFields.structural.has(key)

export const isTrailer = (key: string): boolean => HttpFields.isTrailer(key) && !isOurs(key)
