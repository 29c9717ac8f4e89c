/** Requests as callers send them, and what comes back. */
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { type As, headersOf } from "../Contract.ts"
import { TestIssuer } from "../TestIssuer.ts"
import * as TestServer from "../TestServer.ts"

export interface Answer {
  readonly status: number
  readonly code: string | undefined
  readonly body: Readonly<Record<string, unknown>>
  readonly link: string | null
}

const read = (text: string): Readonly<Record<string, unknown>> => (text === "" ? {} : JSON.parse(text))

/** One request. A body makes it a POST. */
export const ask = (as: As, path: string, body?: unknown, more: RequestInit = {}) =>
  Effect.gen(function* () {
    const headers = { "content-type": "application/json", ...(yield* headersOf(as)), ...more.headers }
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
    const response = yield* TestServer.raw(path, { ...sent, ...more, headers })
    const answer = read(yield* Effect.promise(() => response.text()))
    const code = typeof answer["code"] === "string" ? answer["code"] : undefined
    return { status: response.status, code, body: answer, link: response.headers.get("link") } satisfies Answer
  }).pipe(Effect.orDie)

/** An account by its access token. */
export const account = (sub: string): As => ({ bearer: sub })

/** A signed-in person. The e-mail address is the name's. */
export const person = (name: string): As => ({ session: name, email: `${name}@people.example` })

/** Another replica on the database of the first: runs a request there. */
export const otherReplica = Effect.gen(function* () {
  const { issuer } = yield* TestIssuer
  const context = yield* Layer.build(TestServer.replica({ CT_OIDC_ISSUER: issuer }))
  return Effect.provideService(HttpServer.HttpServer, Context.get(context, HttpServer.HttpServer))
})

/** How many answers there were of each status. */
export const tally = (answers: ReadonlyArray<Answer>) => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
