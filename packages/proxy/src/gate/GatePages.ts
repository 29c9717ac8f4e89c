/** What the login gate answers to visitors: where to sign in, the cookie of a session, and pages for those who cannot pass. */
import { returnPath } from "@catenet/domain/tunnels/GateVisit"
import { markup } from "@catenet/platform/Markup"
import { browserCookie, sessionCookie } from "@catenet/wire/transport/GateCookies"
import { hash } from "node:crypto"
import { type ProxyResponse, paged, plainResponse, response } from "../ProxyPages.ts"

const attributes = "Path=/; HttpOnly; Secure; SameSite=Lax"
/** Seconds that a sign-in may take. */
const signInSeconds = 600

const cookie = (name: string, value: string, seconds: number) => `${name}=${value}; Max-Age=${seconds}; ${attributes}`

/** Nothing of an address with a code in it goes on to where the answer leads. */
const lead = (status: number, location: string, setCookie: string) =>
  response(status, "text/plain", "", { Location: location, "Set-Cookie": setCookie, "Referrer-Policy": "no-referrer" })

export const browserHash = (browser: string): string => hash("sha256", browser, "hex")

/** The control plane learns what it can check of the browser, and not what the browser keeps. */
export const signIn = (to: {
  readonly signIn: string
  readonly host: string
  readonly target: string
  readonly browser: string
}): ProxyResponse => {
  const address = new URL(to.signIn)
  address.searchParams.set("host", to.host)
  address.searchParams.set("return", returnPath(to.target))
  address.searchParams.set("browser", browserHash(to.browser))
  return lead(302, address.href, cookie(browserCookie, to.browser, signInSeconds))
}

/** A header takes no more than ASCII; the path is written as a browser would write it. */
const pathIn = (path: string) => {
  const { hash: fragment, pathname, search } = new URL(returnPath(path), "https://host")
  return `${pathname}${search}${fragment}`.replace(/^\/{2,}/u, "/")
}

export const enter = (path: string, session: string, seconds: number): ProxyResponse =>
  lead(303, pathIn(path), cookie(sessionCookie, session, seconds))

export const leave = (path: string): ProxyResponse => lead(303, pathIn(path), cookie(sessionCookie, "", 0))

export const codeRefused = (): ProxyResponse =>
  paged(403, {
    en: [
      "Sign-in not accepted",
      markup`This sign-in was used already, is too old, or began in another browser. <a href="/">Try again</a>`
    ],
    de: [
      "Anmeldung nicht angenommen",
      markup`Diese Anmeldung wurde schon verwendet, ist zu alt oder begann in einem anderen Browser. <a href="/">Noch einmal versuchen</a>`
    ]
  })

export const unauthorized = (): ProxyResponse =>
  plainResponse(401, "sign in first", {
    en: ["Sign in first", markup`This service requires login, and nothing was sent to it. <a href="/">Sign in</a>`],
    de: [
      "Melden Sie sich zuerst an",
      markup`Dieser Dienst verlangt eine Anmeldung; es wurde nichts an ihn gesendet. <a href="/">Anmelden</a>`
    ]
  })

export const noSignIn = (): ProxyResponse =>
  paged(401, {
    en: ["This service requires login", "Its owner lets in visitors who sign in. Signing in is not possible here now."],
    de: [
      "Dieser Dienst verlangt eine Anmeldung",
      "Der Inhaber lässt Besucher ein, die sich anmelden. Das ist hier zurzeit nicht möglich."
    ]
  })

/** The control plane did not say whether the visitor may pass. */
export const unavailable = (): ProxyResponse =>
  paged(
    503,
    {
      en: ["Signing in does not work now", "This service requires login, and that cannot be checked at the moment."],
      de: [
        "Die Anmeldung ist zurzeit gestört",
        "Dieser Dienst verlangt eine Anmeldung, und die kann gerade nicht geprüft werden."
      ]
    },
    { "Retry-After": "5" }
  )
