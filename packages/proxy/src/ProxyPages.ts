/**
 * The few answers that the proxy gives itself, in the place of the origin. Nothing of the visitor is echoed but the name of the site. A person's
 * browser is shown a page in the shell of the portal, in its language; a program gets the answer that it always got.
 */
import * as AccessPolicy from "@catenet/domain/edges/AccessPolicy"
import { STATUS_CODES } from "@catenet/platform/Http"
import { Markup, markup } from "@catenet/platform/Markup"
import { panelPage, shellSheet, smallSheet } from "@catenet/platform/PageStyles"
import { DateTime } from "effect"
import type { Language, Reader } from "./ContentNegotiation.ts"

/** A title and what it means, in each language. */
export type Sentences = Readonly<Record<Language, readonly [title: string, sentence: string | Markup]>>

/** An answer before it is put into the version of HTTP the visitor speaks. */
export interface ProxyResponse {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly body: Buffer
  /** What a person is shown in its place. */
  readonly sentences?: Sentences
}

/** Nothing of it is kept anywhere. */
export const response = (
  status: number,
  type: string,
  body: string,
  fields: ProxyResponse["fields"] = {}
): ProxyResponse => ({
  status,
  fields: { "Content-Type": `${type}; charset=utf-8`, "Cache-Control": "no-store", ...fields },
  body: Buffer.from(body, "utf8")
})

/** The answer to a request of this method, as the last one on an HTTP/1 connection. */
export const http1 = ({ status, fields, body }: ProxyResponse, method?: string): Buffer => {
  const named = { ...fields, "Content-Length": `${body.length}`, Connection: "close" }
  const lines = Object.entries(named).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`
  return method === "HEAD" ? Buffer.from(head, "latin1") : Buffer.concat([Buffer.from(head, "latin1"), body])
}

const look = new Markup(smallSheet)

/** A page of one sentence. */
const page = (title: string, sentence: string | Markup): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${look}</style>
</head>
<body><main><h1>${title}</h1><p>${sentence}</p></main></body>
</html>
`.text

const shown = (language: Language, [title, sentence]: Sentences[Language], site: string | undefined): string =>
  panelPage({
    language,
    title,
    sheet: shellSheet,
    panel: markup`${site === undefined ? undefined : markup`<p class="site">${site}</p>`}<p>${sentence}</p>`
  })

/** The answer as this reader gets it; a page names the site that was asked for. */
export const readBy = (answer: ProxyResponse, reader: Reader, site?: string): ProxyResponse => {
  const { fields, sentences, status } = answer
  if (reader === undefined || sentences === undefined) return answer
  const type = { "Content-Type": "text/html; charset=utf-8", "Content-Language": reader }
  return { status, fields: { ...fields, ...type }, body: Buffer.from(shown(reader, sentences[reader], site), "utf8") }
}

/** The English page for programs, and for people the page of their language. */
export const paged = (status: number, sentences: Sentences, fields: ProxyResponse["fields"] = {}): ProxyResponse => ({
  ...response(status, "text/html", page(...sentences.en), fields),
  sentences
})

/** A refusal of one request, in plain text; a person is shown a page where there are sentences for it. */
export const plainResponse = (status: number, reason: string, sentences?: Sentences): ProxyResponse => ({
  ...response(status, "text/plain", `${reason}\n`),
  ...(sentences === undefined ? {} : { sentences })
})

/** 421: the name is not served here, or no longer. */
export const unknownName = (host: string): ProxyResponse =>
  plainResponse(421, `${host} is not served here`, {
    en: ["There is nothing at this address", "The name is not served here, or no longer."],
    de: ["Unter dieser Adresse ist nichts", "Dieser Name wird hier nicht oder nicht mehr bedient."]
  })

/** 502: the host exists, its agent is not connected. */
export const offlinePage = (): ProxyResponse =>
  paged(
    502,
    {
      en: [
        "This service is offline",
        "Its address is right, but the computer behind it is not connected at the moment. Try again in a little while."
      ],
      de: [
        "Dieser Dienst ist offline",
        "Die Adresse stimmt, aber der Rechner dahinter ist zurzeit nicht verbunden. Versuchen Sie es in einer Weile noch einmal."
      ]
    },
    { "Retry-After": "10" }
  )

/** 502: the agent is connected, but what it serves did not answer. */
export const silentPage = (): ProxyResponse =>
  paged(
    502,
    {
      en: [
        "This service does not answer",
        "The computer behind this address is connected, but the service on it does not answer. Try again in a little while."
      ],
      de: [
        "Dieser Dienst antwortet nicht",
        "Der Rechner hinter dieser Adresse ist verbunden, aber der Dienst auf ihm antwortet nicht. Versuchen Sie es in einer Weile noch einmal."
      ]
    },
    { "Retry-After": "10" }
  )

/** 503: as many visitors are here as may be, and none of another address holds more places. */
export const fullPage = (): ProxyResponse =>
  paged(
    503,
    {
      en: ["Too many visitors", "This service has as many visitors as it can take. Try again in a little while."],
      de: [
        "Zu viele Besucher",
        "Dieser Dienst hat so viele Besucher, wie er annehmen kann. Versuchen Sie es in einer Weile noch einmal."
      ]
    },
    { "Retry-After": "10" }
  )

/** 502: what the service answered cannot be read or passed on; `why` is a phrase in English. */
export const malformedPage = (why: string): ProxyResponse =>
  paged(502, {
    en: [
      "This service sent an invalid answer",
      `The service at this address is reachable, but its answer is not valid HTTP/1.1 (${why}). Its owner has to correct it.`
    ],
    de: [
      "Dieser Dienst antwortet fehlerhaft",
      `Der Dienst unter dieser Adresse ist erreichbar, aber seine Antwort ist kein gültiges HTTP/1.1 (${why}). Der Betreiber muss das beheben.`
    ]
  })

/** What the page of a closed access window says, and no other. */
export const closedTitle = "This service is closed now"

/** 503: the owner's access window is shut at `now` (unix seconds); names the next change if there is one. */
export const closedPage = (policy: AccessPolicy.AccessPolicy, now: number): ProxyResponse => {
  const change = AccessPolicy.nextChange(policy, now)
  return paged(
    503,
    {
      en: [
        closedTitle,
        change === null
          ? "Its owner has closed access to it. No time of reopening is set."
          : `Its owner allows access only at certain times. It opens again at ${utc(change)} UTC.`
      ],
      de: [
        "Dieser Dienst ist jetzt geschlossen",
        change === null
          ? "Der Inhaber hat den Zugang geschlossen. Eine Zeit, zu der er wieder öffnet, ist nicht gesetzt."
          : `Der Inhaber erlaubt den Zugang nur zu bestimmten Zeiten. Der Dienst öffnet wieder um ${utc(change)} UTC.`
      ]
    },
    { "Retry-After": `${AccessPolicy.retryAfter(policy, now) ?? 1}` }
  )
}

const utc = (seconds: number) =>
  DateTime.formatIso(DateTime.makeUnsafe(seconds * 1_000))
    .slice(0, 16)
    .replace("T", " ")
