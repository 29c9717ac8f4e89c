/**
 * The answer to a form that was taken: the page to which it leads says once what was saved. A cookie names the form; the
 * address of the page stays as it is.
 */
import { type Markup, markup } from "@catenet/platform/Markup"
import { Option, Record } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { forHost } from "../../http/Cookies.ts"
import { english, type Texts } from "../texts/English.ts"
import { icon } from "./Icons.ts"

const cookie = "__Host-ct_saved"

/** Of what a cookie may hold. */
const keyOf = (form: string) => form.replaceAll("/", ".").replaceAll(":", "")
const forms = new Map(Object.keys(english.saved).map((form) => [keyOf(form), form]))

/** An answer that leads to a page of the portal, with what was taken. */
export const remember = (
  form: string,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse =>
  response.status === 303 && forms.has(keyOf(form)) && (response.headers["location"] ?? "").startsWith("/portal/")
    ? HttpServerResponse.setCookieUnsafe(response, cookie, keyOf(form), { ...forHost, maxAge: "1 minute" })
    : response

/** What was taken before this page, if anything was. */
export const sentence = (texts: Texts, { cookies }: HttpServerRequest.HttpServerRequest): Markup | undefined => {
  const form = forms.get(cookies[cookie] ?? "")
  const text = form === undefined ? Option.none<string>() : Record.get<string, string>(texts.saved, form)
  return Option.getOrUndefined(
    Option.map(text, (said) => markup`<p class="flash" role="status">${icon("check")}${said}</p>`)
  )
}

export const forget = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.expireCookieUnsafe(response, cookie, forHost)
