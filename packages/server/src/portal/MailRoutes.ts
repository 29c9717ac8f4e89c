/**
 * The unsubscribe link of a mail, without a session: the token is enough. GET shows a button; POST spends the token,
 * from that page or from a mail program (RFC 8058), which sends no origin.
 */
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { markup } from "@catenet/platform/Markup"
import { Effect, Redacted } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { NoticeMails, unsubscribePath } from "../notices/mail/NoticeMails.ts"
import type { Page } from "./shell/Shell.ts"
import { refuse, show, textsOf } from "./shell/VisitorPages.ts"
import type { Texts } from "./texts/English.ts"

/** `/portal/unsubscribe`: a button, because programs that follow the links of a mail must not switch it off. */
const shown = (title: string, content: Page["main"]): Page => ({
  title,
  isStill: true,
  main: markup`<h1>${title}</h1>${content}`
})

/** `action`: the address of the page itself, which holds the token. */
const unsubscribeQuestion = (texts: Texts, action: string): Page =>
  shown(
    texts.unsubscribeTitle,
    markup`<form class="panel pad" method="post" action="${action}"><p>${texts.unsubscribeText}</p>
      <button class="primary">${texts.unsubscribeButton}</button></form>`
  )

const done = (texts: Texts): Page =>
  shown(texts.unsubscribeTitle, markup`<p class="panel notice" role="status">${texts.unsubscribed}</p>`)

const spent = (texts: Texts): Page =>
  shown(texts.unsubscribeTitle, markup`<p class="panel notice">${texts.unsubscribeSpent}</p>`)

/** The address holds a token: it goes to no other page, and to no search machine. */
const headers = { "referrer-policy": "no-referrer" }

const tokenOf = ({ url }: HttpServerRequest.HttpServerRequest) =>
  Redacted.make(new URL(url, "http://localhost").searchParams.get("token") ?? "", { label: "unsubscribe token" })

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const mails = yield* NoticeMails
    const asked = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const token = tokenOf(request)
      const texts = textsOf(request)
      return Effect.flatMap(mails.look(token), (worth) => {
        if (worth === "unknown") return refuse(request, new RouteNotFound())
        const page =
          worth === "spent"
            ? spent(texts)
            : unsubscribeQuestion(texts, `${unsubscribePath}?token=${Redacted.value(token)}`)
        return Effect.succeed(show(texts, page, { headers, status: worth === "spent" ? 410 : 200 }))
      })
    })
    const posted = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const texts = textsOf(request)
      return Effect.flatMap(mails.unsubscribe(tokenOf(request)), (worth) => {
        if (worth === "unknown") return refuse(request, new RouteNotFound())
        const page = worth === "spent" ? spent(texts) : done(texts)
        return Effect.succeed(show(texts, page, { headers, status: worth === "spent" ? 410 : 200 }))
      })
    })
    yield* router.add("GET", unsubscribePath, asked)
    yield* router.add("POST", unsubscribePath, posted)
  })
)
