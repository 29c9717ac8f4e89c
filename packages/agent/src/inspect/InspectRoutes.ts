/** What the inspector answers: pages for a browser, and JSON below `/api` for programs. Who may ask is decided before. */
import type { OnFault } from "@catenet/wire/transport/FaultBoundary"
import { Effect, Option, Schema } from "effect"
import * as Curl from "./Curl.ts"
import type { Exchange } from "./Exchange.ts"
import * as ExchangeView from "./ExchangeView.ts"
import * as Har from "./Har.ts"
import * as PageAssets from "./PageAssets.ts"
import * as Pages from "./Pages.ts"
import type { Recording } from "./Recording.ts"
import { type Edit, replay } from "./Replay.ts"
import * as TerminalText from "./TerminalText.ts"

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly etag: string | undefined
  readonly body: string
  readonly isForm: boolean
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

const html = (body: string, status = 200): Answer => ({
  status,
  headers: { "content-type": "text/html; charset=utf-8" },
  body
})
const json = (value: unknown, status = 200, type = "application/json"): Answer => ({
  status,
  headers: { "content-type": type },
  body: JSON.stringify(value)
})
const plain = (body: string, status = 200): Answer => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body
})
const seeOther = (location: string): Answer => ({ status: 303, headers: { location }, body: "" })

/** Pages say it in HTML, the API as problem details (RFC 9457). */
export const problem = (path: string, status: number, title: string, detail: string): Answer =>
  path.startsWith("/api")
    ? json({ type: "about:blank", title, status, detail }, status, "application/problem+json")
    : html(Pages.problem(title, detail), status)

const Fields = Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String }))
const EditBody = Schema.Struct({
  method: Schema.optional(Schema.String),
  target: Schema.optional(Schema.String),
  headers: Schema.optional(Fields),
  body: Schema.optional(Schema.String)
})
const readEdit = Schema.decodeUnknownOption(Schema.fromJsonString(EditBody), { onExcessProperty: "error" })

/** The form's fields; a textarea has CRLF between its lines, which a body of LF lines did not have. */
const formEdit = (form: URLSearchParams, { requestBody }: Exchange): Edit => {
  const lines = form.get("headers")?.split(/\r?\n/u).filter(Boolean)
  const body = form.get("body")
  const hadCrlf = requestBody.bytes().includes("\r\n")
  return {
    method: form.get("method") ?? undefined,
    target: form.get("target") ?? undefined,
    headers: lines?.map((line) => {
      const colon = line.indexOf(":")
      return colon < 0 ? { name: line, value: "" } : { name: line.slice(0, colon), value: line.slice(colon + 1).trim() }
    }),
    body: body === null ? undefined : hadCrlf ? body : body.replaceAll("\r\n", "\n")
  }
}

const editOf = ({ body, isForm }: Asked, exchange: Exchange): Edit | undefined => {
  if (isForm) return formEdit(new URLSearchParams(body), exchange)
  if (body === "") return {}
  return Option.getOrUndefined(readEdit(body))
}

const filterOf = (query: URLSearchParams): Pages.Filter => ({
  words: query.get("q") ?? "",
  service: query.get("service") ?? ""
})

const listed = (recording: Recording, { service, words }: Pages.Filter) =>
  recording
    .list()
    .filter(({ visit }) => service === "" || visit.service === service)
    .filter((exchange) => ExchangeView.matches(exchange, words))

/** Those that have had a request. */
const servicesOf = (recording: Recording): ReadonlyArray<string> =>
  [...new Set(recording.list().flatMap(({ visit }) => visit.service ?? []))].toSorted()

const one =
  /^(?<api>\/api)?\/requests\/(?<id>\d{1,12})(?<then>\.har|\.txt|\/edit|\/replay(?:\.txt)?|\/request-body|\/response-body)?$/u

export const make = (recording: Recording, onFault: OnFault) => {
  const tagOf = () => `"${recording.version}"`

  const ofList = ({ etag, method, path, query }: Asked): Answer | undefined => {
    const filter = filterOf(query)
    const shown = query.get("secrets") === "shown"
    const summaries = () => listed(recording, filter).map((exchange) => ExchangeView.summary(exchange, shown))
    if (path === "/clear" || (path === "/api/requests" && method === "DELETE")) {
      recording.clear()
      return path === "/clear" ? seeOther("/") : { status: 204, headers: {}, body: "" }
    }
    if (path === "/") return html(Pages.list(summaries(), filter, servicesOf(recording), tagOf()))
    if (path === "/rows") {
      if (etag === tagOf()) return { status: 304, headers: { etag }, body: "" }
      const { body, headers, status } = html(Pages.rows(summaries(), filter))
      return { status, headers: { ...headers, etag: tagOf() }, body }
    }
    if (path === "/api/requests") return json({ requests: summaries() })
    if (path === "/api/requests.txt") return plain(TerminalText.list(summaries()))
    if (path === "/requests.har" || path === "/api/requests.har")
      return json(Har.archive(listed(recording, filter), shown))
    return undefined
  }

  const repeated = (asked: Asked, exchange: Exchange, isApi: boolean) =>
    Effect.gen(function* () {
      const edit = editOf(asked, exchange)
      if (edit === undefined)
        return problem(
          asked.path,
          400,
          "Wrong body",
          "Give method, target, headers (name and value) and body, or nothing."
        )
      const again = yield* replay(recording, exchange, edit, onFault)
      if (!isApi) return seeOther(`/requests/${again.id}`)
      const detail = ExchangeView.detail(again, asked.query.get("secrets") === "shown")
      return asked.path.endsWith(".txt") ? plain(TerminalText.detail(detail), 201) : json(detail, 201)
    }).pipe(
      Effect.catchTag("ReplayRefused", ({ message, status }) =>
        Effect.succeed(
          asked.isForm && asked.body !== ""
            ? html(Pages.edit(ExchangeView.detail(exchange, false), message), status)
            : problem(asked.path, status, "Not replayed", message)
        )
      )
    )

  const saved = (exchange: Exchange, side: "request" | "response"): Answer => ({
    status: 200,
    headers: {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${side}-${exchange.id}"`
    },
    body: (side === "request" ? exchange.requestBody : exchange.responseBody).bytes()
  })

  const ofOne = (asked: Asked, id: number, then: string | undefined, isApi: boolean) => {
    const exchange = recording.get(id)
    if (exchange === undefined)
      return Effect.succeed(
        problem(asked.path, 404, "No such request", `Request ${id} is not, or no longer, among the last 500.`)
      )
    if (then?.startsWith("/replay") === true) return repeated(asked, exchange, isApi)
    const shown = asked.query.get("secrets") === "shown"
    if (then === ".har") return Effect.succeed(json(Har.archive([exchange], shown)))
    if (then === "/request-body" || then === "/response-body")
      return Effect.succeed(saved(exchange, then === "/request-body" ? "request" : "response"))
    const detail = ExchangeView.detail(exchange, shown)
    const curl = Curl.command(detail, ExchangeView.publicHostOf(exchange))
    if (then === ".txt") return Effect.succeed(plain(TerminalText.detail(detail)))
    if (then === "/edit") return Effect.succeed(html(Pages.edit(detail, undefined)))
    return Effect.succeed(isApi ? json({ ...detail, curl }) : html(Pages.detail(detail, curl)))
  }

  return (asked: Asked): Effect.Effect<Answer> => {
    const { method, path } = asked
    const isChange = path === "/clear" || /\/replay(?:\.txt)?$/u.test(path)
    const methods = isChange ? ["POST"] : path === "/api/requests" ? ["GET", "HEAD", "DELETE"] : ["GET", "HEAD"]
    if (path === "/style.css" || path === "/script.js") {
      const [type, body] =
        path === "/style.css" ? ["text/css", PageAssets.sheet] : ["text/javascript", PageAssets.script]
      return Effect.succeed({ status: 200, headers: { "content-type": `${type}; charset=utf-8` }, body })
    }
    const { api, id, then } = one.exec(path)?.groups ?? {}
    if (!methods.includes(method)) {
      const { body, headers, status } = problem(path, 405, "Wrong method", `Here are ${methods.join(", ")}.`)
      return Effect.succeed({ status, headers: { ...headers, allow: methods.join(", ") }, body })
    }
    if (id !== undefined) return ofOne(asked, Number(id), then, api !== undefined)
    return Effect.succeed(
      ofList(asked) ?? problem(path, 404, "Nothing here", "The requests are at /, the API at /api/requests.")
    )
  }
}
