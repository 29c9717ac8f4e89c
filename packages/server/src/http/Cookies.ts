/** Attributes of the cookies of portal and gate, and how a cookie is read. */
import { Option, Record, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"

/** The session of the portal. */
export const portalSessionCookie = "__Host-ct_portal_session"

/** No script reads them, and another site's page sends them only when it leads here. Scope and age are each cookie's own. */
export const closed = { httpOnly: true, secure: true, sameSite: "lax" } as const

/** For this host alone, at all of its paths, as the prefix `__Host-` demands. */
export const forHost = { path: "/", ...closed } as const

/** The secret in a cookie. */
export const cookieOf = (
  request: HttpServerRequest.HttpServerRequest,
  name: string
): Option.Option<Redacted.Redacted> =>
  Option.map(
    Option.filter(Record.get(request.cookies, name), (text) => text !== ""),
    (text) => Redacted.make(text)
  )
