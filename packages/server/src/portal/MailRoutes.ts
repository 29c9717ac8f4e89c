/**
 * The link of a mail that switches mail off, without a session: the token is all that is asked for. GET shows a button, POST
 * spends the token, from that page or from a mail program (RFC 8058), which says where it comes from in no header.
 */
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Redacted } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import type { ExtraRoutes } from "../http/AllowedMethods.ts"
import { NoticeMails, unsubscribePath } from "../notices/mail/NoticeMails.ts"
import * as UnsubscribePage from "./pages/UnsubscribePage.ts"
import { refuse, show, textsOf } from "./shell/VisitorPages.ts"

export const addresses: ExtraRoutes = [
  ["GET", unsubscribePath],
  ["POST", unsubscribePath]
]

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
            ? UnsubscribePage.spent(texts)
            : UnsubscribePage.ask(texts, `${unsubscribePath}?token=${Redacted.value(token)}`)
        return Effect.succeed(show(texts, page, { headers, status: worth === "spent" ? 410 : 200 }))
      })
    })
    const posted = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const texts = textsOf(request)
      return Effect.flatMap(mails.unsubscribe(tokenOf(request)), (worth) => {
        if (worth === "unknown") return refuse(request, new RouteNotFound())
        const page = worth === "spent" ? UnsubscribePage.spent(texts) : UnsubscribePage.done(texts)
        return Effect.succeed(show(texts, page, { headers, status: worth === "spent" ? 410 : 200 }))
      })
    })
    yield* router.add("GET", unsubscribePath, asked)
    yield* router.add("POST", unsubscribePath, posted)
  })
)
