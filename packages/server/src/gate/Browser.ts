/**
 * What the addresses of the gate share: the cookies that they give and take, and the hosts and paths that they read.
 */
import { Hostname } from "@catenet/domain/Hostname"
import { returnPath } from "@catenet/domain/rules/ShareLink"
import { Option, Record, Redacted, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** The visitor's session, for the whole zone: the session itself is for one host. */
export const sessionCookie = "ct_gate_session"
/** The secret of a sign-in that is under way. */
export const secretCookie = "__Host-ct_gate_state"
/** Where it leads, to offer another try; nothing is decided by it. */
export const targetCookie = "ct_gate_target"

const closed = { httpOnly: true, secure: true, sameSite: "lax" } as const
const forZone = (domain: string) => ({ ...closed, domain, path: "/" })
const forHost = { ...closed, path: "/" }
const forGate = { ...closed, path: "/gate" }

/** Gives the browser a session of so many seconds. */
export const withSession = (domain: string, token: Redacted.Redacted, seconds: number) =>
  HttpServerResponse.setCookieUnsafe(sessionCookie, Redacted.value(token), {
    ...forZone(domain),
    maxAge: `${seconds} seconds`
  })

export const withoutSession = (domain: string) => HttpServerResponse.expireCookieUnsafe(sessionCookie, forZone(domain))

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

/** The secret in a cookie. */
export const cookieOf = (request: Request, name: string): Option.Option<Redacted.Redacted> => {
  const text = Option.getOrElse(Record.get(request.cookies, name), () => "")
  return text === "" ? Option.none() : Option.some(Redacted.make(text))
}

export const queryOf = (url: string): URLSearchParams => new URL(url, "http://localhost").searchParams

/** What is no host name is the name of no gate. */
export const readHost = Schema.decodeUnknownOption(Hostname)

/** A header takes no more than ASCII; the path is written as a browser would write it. */
export const addressAt = (host: string, path: string): string => new URL(returnPath(path), `https://${host}`).href
