/** The end of a session, and the language of the reader. */
import { markup } from "@catenet/platform/Markup"
import { Effect, Option, Redacted } from "effect"
import { type HttpRouter, HttpServerResponse } from "effect/http"
import { forHost, portalSessionCookie } from "../http/Cookies.ts"
import { fields } from "../http/FormBody.ts"
import { NoticeMails } from "../notices/mail/NoticeMails.ts"
import { nextPath, PortalSignIns } from "./PortalSignIns.ts"
import { isLanguage, languageCookie } from "./shell/Language.ts"
import type { Page } from "./shell/Shell.ts"
import type * as Visits from "./shell/Visits.ts"
import type { Texts } from "./texts/English.ts"

/** `/portal/logout`: a button, because a link or a picture elsewhere must not sign anybody out. */
const signOutPage = (texts: Texts): Page => ({
  title: texts.signOutTitle,
  main: markup`<h1>${texts.signOutTitle}</h1>
    <form class="panel pad" method="post" action="/portal/logout">
      <p>${texts.signOutText}</p>
      <p class="row"><button class="primary">${texts.signOut}</button>
      <a class="button" href="/portal/tunnels">${texts.cancel}</a></p>
    </form>`
})

// Where a switch of the language leads back to: the page on which it stands, and nowhere else.

/** Pages that need no session, and those outside `/portal`, on which a switch stands. Each of them says itself what its reader may see. */
const outside = [
  /^\/$/u,
  /^\/(?:docs|operators|impressum|datenschutz|nutzungsbedingungen|portal|portal\/receipts)$/u,
  /^\/net\/[0-9a-f-]{1,64}$/u,
  /^\/me\/topologies\/[0-9a-f]{32}\/editor$/u,
  /^\/gate\/request-access\?host=[a-z0-9.-]{1,253}$/u
]

export const backPath = (text: string | undefined, isSignedIn: boolean): string => {
  if (text !== undefined && outside.some((pattern) => pattern.test(text))) return text
  return isSignedIn ? nextPath(text) : "/"
}

export const add = Effect.fnUntraced(function* (
  router: HttpRouter.HttpRouter,
  { fromPortal, show, visit }: Effect.Success<typeof Visits.make>
) {
  const signIns = yield* PortalSignIns
  const mails = yield* NoticeMails
  yield* router.add(
    "GET",
    "/portal/logout",
    Effect.map(visit, (self) =>
      self.reader.signedIn === undefined
        ? HttpServerResponse.redirect("/", { status: 303 }).pipe(
            HttpServerResponse.expireCookieUnsafe(portalSessionCookie, forHost)
          )
        : show(self, signOutPage(self.reader.texts))
    )
  )
  const signOut = fromPortal(({ reader, token }) =>
    Effect.map(Redacted.value(token) === "" ? Effect.succeedNone : signIns.end(token, reader.texts.language), (url) =>
      HttpServerResponse.redirect(Option.isSome(url) ? url.value.href : "/", { status: 303 }).pipe(
        HttpServerResponse.expireCookieUnsafe(portalSessionCookie, forHost)
      )
    )
  )
  yield* router.add("POST", "/portal/logout", signOut)

  const chosen = fromPortal(({ reader }) =>
    Effect.gen(function* () {
      const { back, language } = yield* fields
      const path = backPath(back, reader.signedIn !== undefined)
      const response = HttpServerResponse.redirect(path, { status: 303 })
      if (!isLanguage(language)) return response
      if (reader.signedIn !== undefined) yield* mails.setLanguage(reader.signedIn.subject, language)
      return HttpServerResponse.setCookieUnsafe(response, languageCookie, language, {
        ...forHost,
        maxAge: "365 days"
      })
    })
  )
  yield* router.add("POST", "/portal/language", chosen)
})
