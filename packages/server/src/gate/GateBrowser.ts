/** Cookies, hosts and paths that the routes of the gate share. */
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { BrowserHash, returnPath } from "@catenet/domain/tunnels/GateVisit"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Option, Redacted, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { closed, cookieOf, forHost } from "../http/Cookies.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/**
 * The visitor's session. It is this platform's at the gate's own addresses, and a host's where a proxy asks for it. Sibling hosts
 * can plant a cookie of the first name in a browser, and none of the second.
 */
const sessionCookie = "ct_gate_session"
const hostSessionCookie = "__Host-ct_gate_session"
/** What the browser keeps at a host that began to sign in there; the code that it comes back with is good in it alone. */
export const browserCookie = "__Host-ct_gate_browser"
/** The secret of a sign-in that is under way. */
export const secretCookie = "__Host-ct_gate_state"
/** Where it leads, to offer another try; nothing is decided by it. */
export const targetCookie = "ct_gate_target"

const forGate = { ...closed, path: "/gate" }

/** Gives the browser a session of so many seconds, at this host alone. */
export const withSession = (token: Redacted.Redacted, seconds: number) => (response: Response) =>
  [sessionCookie, hostSessionCookie].reduce(
    (given, name) =>
      HttpServerResponse.setCookieUnsafe(given, name, Redacted.value(token), {
        ...forHost,
        maxAge: `${seconds} seconds`
      }),
    response
  )

export const withoutSession = (response: Response) =>
  [sessionCookie, hostSessionCookie].reduce(
    (given, name) => HttpServerResponse.expireCookieUnsafe(given, name, forHost),
    response
  )

export const withBrowser = (token: Redacted.Redacted, seconds: number) =>
  HttpServerResponse.setCookieUnsafe(browserCookie, Redacted.value(token), { ...forHost, maxAge: `${seconds} seconds` })

/** What the platform learns of `browserCookie`: it can check the cookie and not use it. */
export const browserHash = (token: Redacted.Redacted): string => TokenEncoding.hashText(native, token)

export const readBrowser = Schema.decodeUnknownOption(BrowserHash)

/** Gives the browser what it needs to come back from the provider within so many seconds. */
export const withSignIn = (secret: Redacted.Redacted, target: string, seconds: number) => (response: Response) =>
  response.pipe(
    HttpServerResponse.setCookieUnsafe(secretCookie, Redacted.value(secret), {
      ...forHost,
      maxAge: `${seconds} seconds`
    }),
    HttpServerResponse.setCookieUnsafe(targetCookie, target, { ...forGate, maxAge: `${seconds} seconds` })
  )

export const withoutSignIn = (response: Response) =>
  response.pipe(
    HttpServerResponse.expireCookieUnsafe(secretCookie, forHost),
    HttpServerResponse.expireCookieUnsafe(targetCookie, forGate)
  )

/** An edge writes a MAC of its own behind the token: it was the edge that gave this cookie while it terminated the host's TLS. */
const withoutMac = Option.map((value: Redacted.Redacted) => Redacted.make(Redacted.value(value).split(".", 1)[0] ?? ""))

/** The session of a request. A browser, which says from where it asks, has it under the name that no sibling host can give it. */
export const sessionOf = (request: Request): Option.Option<Redacted.Redacted> => {
  const own = withoutMac(cookieOf(request, hostSessionCookie))
  return Option.isSome(own) || request.headers["sec-fetch-site"] !== undefined ? own : cookieOf(request, sessionCookie)
}

export const queryOf = (url: string): URLSearchParams => new URL(url, "http://localhost").searchParams

/** A path and its query, as a proxy hands them on. */
export const queryPathOf = (uri: string): { readonly path: string; readonly query: URLSearchParams } => {
  const [path = "", query = ""] = uri.split(/\?(.*)/su)
  return { path, query: new URLSearchParams(query) }
}

/** What is no host name is the name of no gate. */
export const readHost = Schema.decodeUnknownOption(Hostname)

/** A tunnel's host as browsers reach it. */
export interface PublicHost {
  readonly host: string
  readonly port: number
}

/** A header takes no more than ASCII; the path is written as a browser would write it. */
export const addressAt = ({ host, port }: PublicHost, path: string): string =>
  new URL(returnPath(path), `https://${host}:${port}`).href
