/**
 * `GET` and `POST /gate/request-access`: a visitor asks the owner of a gated host to be let in. The owner finds the request
 * among those of the tunnel. The answer does not say whether it was kept, or the visitor is let in already.
 */
import { HostNotGated } from "@catenet/domain/tunnels/GateErrors"
import { Email } from "@catenet/domain/values/Email"
import { WrongShape } from "@catenet/domain/values/RequestErrors"
import { Effect, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ClientAddresses } from "../http/ClientAddresses.ts"
import { fields } from "../http/FormBody.ts"
import { Limits } from "../http/Limits.ts"
import * as Notice from "../http/NoticePage.ts"
import { refuse } from "../http/RefusalPages.ts"
import { Settings } from "../settings/Settings.ts"
import { Gate } from "./Gate.ts"
import * as Browser from "./GateBrowser.ts"
import * as Page from "./GatePage.ts"

export const path = "/gate/request-access"

const longestNote = 500

/** One line of at most 500 characters. */
const noteOf = (text: string) =>
  Array.from(text.replace(/[\p{Cc}\p{Cs}]+/gu, " ").trim())
    .slice(0, longestNote)
    .join("")

const readEmail = Schema.decodeUnknownOption(Email)
const page = (html: string) =>
  HttpServerResponse.text(html, { contentType: Notice.contentType, headers: Notice.headers })

export const show = Effect.gen(function* () {
  const gate = yield* Gate
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const named = Browser.readHost(Browser.queryOf(request.url).get("host"))
    const host = yield* Option.isSome(named) ? Effect.as(gate.of(named.value), named.value) : new HostNotGated()
    return page(Page.request(host, path))
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
      const text = (field: "host" | "email") =>
        Effect.mapError(Effect.fromNullishOr(given[field]), () => wrong(field, "Expected a value"))
      const named = Browser.readHost(yield* text("host"))
      const email = yield* Effect.mapError(Effect.fromOption(readEmail(yield* text("email"))), () =>
        wrong("email", "Expected an e-mail address")
      )
      if (Option.isNone(named)) return yield* new HostNotGated()
      const asked = { email, note: noteOf(given["note"] ?? ""), from: budgetKey(request) }
      yield* gate.request(named.value, asked)
      const detail = `The owner of ${named.value} has been asked to let ${email} in.`
      return page(Notice.render({ title: "Asked", detail }))
    })
    return yield* Effect.catchTag(
      answered,
      ["BodyTooLarge", "HostNotGated", "RateLimited", "UnsupportedMediaType", "WrongShape"],
      (refusal) => refuse(request, refusal)
    )
  })
})
