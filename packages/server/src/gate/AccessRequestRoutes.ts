/**
 * `GET` and `POST /gate/request-access`: a visitor asks the owner of a gated host to be let in. The owner finds the request
 * among those of the tunnel. The answer does not say whether it was kept, or the visitor is let in already.
 */
import { HostNotGated } from "@catenet/domain/tunnels/GateErrors"
import { Email } from "@catenet/domain/values/Email"
import { longestAccessNote } from "@catenet/domain/values/Quotas"
import { WrongShape } from "@catenet/domain/values/RequestErrors"
import { Effect, Option, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { ClientAddresses } from "../http/ClientAddresses.ts"
import { fields } from "../http/FormBody.ts"
import { Limits } from "../http/Limits.ts"
import type { Sent } from "../portal/shell/Field.ts"
import * as ProblemPage from "../portal/shell/ProblemPage.ts"
import { refuse, show as shown, textsOf } from "../portal/shell/VisitorPages.ts"
import { Settings } from "../settings/Settings.ts"
import { Gate } from "./Gate.ts"
import * as Browser from "./GateBrowser.ts"
import * as Page from "./GatePage.ts"

export const path = "/gate/request-access"

/** One line, cut off where it is too long. */
const noteOf = (text: string) =>
  Array.from(text.replace(/[\p{Cc}\p{Cs}]+/gu, " ").trim())
    .slice(0, longestAccessNote)
    .join("")

const readEmail = Schema.decodeUnknownOption(Email)

/** The form; with what was typed and why it was refused, where it was. */
const formPage = (request: HttpServerRequest.HttpServerRequest, host: string, sent?: Sent) => {
  const texts = textsOf(request)
  const page = Page.request(texts, { host, action: path, ...(sent === undefined ? {} : { sent }) })
  return shown(texts, page, { back: `${path}?host=${host}`, status: sent === undefined ? 200 : 400 })
}

export const show = Effect.gen(function* () {
  const gate = yield* Gate
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const named = Browser.readHost(Browser.queryOf(request.url).get("host"))
    const host = yield* Option.isSome(named) ? Effect.as(gate.of(named.value), named.value) : new HostNotGated()
    return formPage(request, host)
  }).pipe(
    Effect.catchTag("HostNotGated", (refusal) =>
      HttpServerRequest.HttpServerRequest.use((request) => refuse(request, refusal))
    )
  )
})

const wrong = (field: string, message: string) => new WrongShape({ errors: [{ path: [field], message }] })

export const ask = Effect.gen(function* () {
  const gate = yield* Gate
  const limits = yield* Limits
  const { budgetKey } = yield* ClientAddresses
  const { anonymousWritesPerMinute } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const answered = Effect.gen(function* () {
      yield* limits.take(`gate ${budgetKey(request)}`, anonymousWritesPerMinute)
      const given = yield* fields
      const named = Browser.readHost(
        yield* Effect.mapError(Effect.fromNullishOr(given["host"]), () => wrong("host", "Expected a value"))
      )
      const typed = given["email"] ?? ""
      const email = Option.getOrUndefined(readEmail(typed.trim()))
      if (Option.isNone(named)) return yield* new HostNotGated()
      if (email === undefined) {
        if (/\bjson\b/u.test(request.headers["accept"] ?? ""))
          return yield* wrong("email", "Expected an e-mail address")
        yield* gate.of(named.value)
        return formPage(request, named.value, { form: "access", fields: given, refused: ["email"] })
      }
      const asked = { email, note: noteOf(given["note"] ?? ""), from: budgetKey(request) }
      yield* gate.request(named.value, asked)
      const texts = textsOf(request)
      const detail = texts.accessAskedText(named.value, email)
      return shown(texts, ProblemPage.page({ title: texts.accessAsked, detail, links: [], isGood: true }))
    })
    return yield* Effect.catchTag(
      answered,
      ["BodyTooLarge", "HostNotGated", "RateLimited", "UnsupportedMediaType", "WrongShape"],
      (refusal) => refuse(request, refusal)
    )
  })
})
