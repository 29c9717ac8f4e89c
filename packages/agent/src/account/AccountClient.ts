/**
 * Calls the control plane as a user, with the user's bearer token and a limit of 10 s. A refusal's own text is the sentence to
 * print.
 */
import { clause, ended } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect, Option, type Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { Refused, Unreachable } from "../Failure.ts"
import * as Credential from "../login/Credential.ts"
import { quoted } from "../login/StoredLogin.ts"
import { advice as adviceOn, describe } from "../onboard/HttpErrors.ts"
import type { BearerSource } from "../settings/LoginVariables.ts"

const bound = "10 seconds"

/** The control plane to call, and the account to call it as. */
export interface Account {
  readonly controlPlane: string
  readonly source: BearerSource
}

export interface Call<A, I> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Path below the control plane's address. */
  readonly path: string
  readonly body?: unknown
  /** Marks a repeated call as the same one. */
  readonly idempotencyKey?: string
  /** Advice about a refusal, by its status. */
  readonly advice?: ReadonlyMap<number, string>
  /** Schema of the response. */
  readonly answer: Schema.Codec<A, I>
}

const Problem = Schema.fromJsonString(Schema.Struct({ detail: Schema.String }))
const problemOf = Schema.decodeUnknownOption(Problem)

/** The token of this user. */
export const bearer = (source: BearerSource) =>
  Effect.mapError(Credential.resolve(source), ({ kind, reason }) => {
    if (kind === "none") return ConfigurationInvalid.of("The bearer token", `is missing: ${reason}`)
    const detail = `No bearer token: ${clause(reason)}.`
    return kind === "passing" ? new Unreachable({ detail }) : new Refused({ detail })
  })

const requestOf = <A, I>({ body, idempotencyKey, method, path }: Call<A, I>, url: string, token: Redacted.Redacted) => {
  const bare = HttpClientRequest.make(method)(`${url}${path}`).pipe(
    HttpClientRequest.acceptJson,
    HttpClientRequest.bearerToken(token)
  )
  const keyed =
    idempotencyKey === undefined ? bare : HttpClientRequest.setHeader(bare, "idempotency-key", idempotencyKey)
  return body === undefined ? keyed : HttpClientRequest.bodyJsonUnsafe(keyed, body)
}

/** A control plane of another implementation answers in plain text. */
const saidIn = (text: string, type: string) =>
  Option.getOrUndefined(problemOf(text))?.detail ?? (/^text\/plain\b/iu.test(type) ? text.trim() : "")

const login = "Run ct-agent login, or renew CT_OIDC_TOKEN."

const refusal = (status: number, refusalDetail: string, advice = status === 401 ? login : "") => {
  const detail = refusalDetail === "" ? `The control plane answered ${status}.` : quoted(refusalDetail)
  return new Refused({ detail: advice === "" ? detail : `${ended(detail)} ${advice}`, status })
}

/** The response of the control plane. */
export const ask = Effect.fn("AccountClient.ask")(function* <A, I>(
  { controlPlane, source }: Account,
  call: Call<A, I>
) {
  const client = yield* HttpClient.HttpClient
  const away = (why: string, error?: unknown) =>
    new Unreachable({
      detail: `The control plane at ${controlPlane} does not answer: ${clause(why)}. ${adviceOn(error)}`
    })
  const {
    said: refusalDetail,
    status,
    text
  } = yield* Effect.flatMap(bearer(source), (token) =>
    Effect.gen(function* () {
      const response = yield* client.execute(requestOf(call, controlPlane, token))
      const text = yield* response.text
      return { status: response.status, text, said: saidIn(text, response.headers["content-type"] ?? "") }
    }).pipe(
      Effect.mapError((error) => away(describe(error), error)),
      Effect.timeoutOrElse({ duration: bound, orElse: () => Effect.fail(away(`nothing within ${bound}`)) })
    )
  )
  if (status >= 500 || status === 429 || (status >= 300 && status < 400)) return yield* away(`it answered ${status}`)
  if (status >= 400) return yield* refusal(status, refusalDetail, call.advice?.get(status))
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(call.answer))
  return yield* Effect.mapError(decode(text === "" ? "null" : text), () => away("its answer cannot be read"))
})
