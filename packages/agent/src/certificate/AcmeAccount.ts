/**
 * An account at an ACME server: signs requests with its key (RFC 8555 section 6.2), keeps nonces, and retries when the server
 * rejects one. The caller stores the account's URL for each directory.
 */
import { Effect, Redacted, Schema } from "effect"
import { calculateJwkThumbprint, exportJWK, FlattenedSign } from "jose"
import { createPublicKey, type KeyObject } from "node:crypto"
import { Directory, Problem } from "./AcmeDocuments.ts"
import { AcmeFailed, ofProblem, untrusted } from "./AcmeFailed.ts"
import type { AcmeTransport, Answer } from "./AcmeTransport.ts"

/** A server that refuses three of ten nonces passes all but one of 10^8 requests. */
const maxNonces = 16
const maxKept = 10

/** The pair that binds an account to one of the operator's at the authority (RFC 8555 section 7.3.4). */
export interface Binding {
  readonly kid: string
  readonly hmac: Redacted.Redacted
}

export interface AcmeAccount {
  readonly server: string
  readonly directory: Directory
  readonly url: string
  /** SHA-256 of the key (RFC 7638), a part of every proof. */
  readonly thumbprint: string
  readonly get: AcmeTransport["call"]
  /** Signs and sends; without a payload it reads (POST-as-GET). */
  readonly post: (url: string, payload?: unknown) => Effect.Effect<Answer, AcmeFailed>
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads an answer by its schema. */
export const decoded = <A>(server: string, what: string, schema: Schema.Decoder<A>, { body }: Answer) =>
  Schema.decodeUnknownEffect(schema)(parse(body)).pipe(
    Effect.mapError(() => untrusted(server, `${what} is not what RFC 8555 says`))
  )

const readProblem = Schema.decodeUnknownEffect(Problem)

/** The answer, or the failure that it describes. */
const accepted = Effect.fnUntraced(function* (server: string, answer: Answer) {
  if (answer.status >= 200 && answer.status < 300) return answer
  const problem = yield* Effect.orElseSucceed(readProblem(parse(answer.body)), (): typeof Problem.Type => ({}))
  return yield* ofProblem(server, problem, answer)
})

const nonceForm = /^[A-Za-z0-9_-]{1,512}$/

/** The directory of a server. */
const directoryOf = Effect.fnUntraced(function* ({ call, server }: AcmeTransport, url: string) {
  const answer = yield* accepted(server, yield* call("GET", url))
  return yield* decoded(server, "its directory", Directory, answer)
})

const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

/**
 * Opens the key's account, and creates it if needed. `known` is its URL if it is stored; `requiresBinding` says that the server
 * requires an external account binding.
 */
export const open = Effect.fn("AcmeAccount.open")(function* (
  transport: AcmeTransport,
  options: {
    readonly directory: string
    readonly key: KeyObject
    readonly known: string | undefined
    readonly binding: Binding | undefined
  }
): Effect.fn.Return<AcmeAccount, AcmeFailed> {
  const { call, server } = transport
  const { binding, key, known } = options
  const directory = yield* directoryOf(transport, options.directory)
  const { crv, kty, x, y } = yield* Effect.promise(() => exportJWK(createPublicKey(key)))
  const jwk = { crv: crv ?? "", kty: kty ?? "", x: x ?? "", y: y ?? "" }
  const thumbprint = yield* Effect.promise(() => calculateJwkThumbprint(jwk))
  const nonces: Array<string> = []
  const keep = ({ nonce }: Answer) => {
    if (nonce !== undefined && nonceForm.test(nonce) && nonces.length < maxKept) nonces.push(nonce)
  }

  const nonce = Effect.gen(function* () {
    const kept = nonces.pop()
    if (kept !== undefined) return kept
    keep(yield* accepted(server, yield* call("HEAD", directory.newNonce)))
    return nonces.pop() ?? (yield* untrusted(server, "it gives no nonce"))
  })

  const send = Effect.fnUntraced(function* (
    url: string,
    payload: unknown,
    signer: { kid: string } | { jwk: typeof jwk }
  ) {
    const bytes = payload === undefined ? new Uint8Array() : text(payload)
    for (let tried = 1; ; tried++) {
      const header = { alg: "ES256", nonce: yield* nonce, url, ...signer }
      const signed = yield* Effect.promise(() => new FlattenedSign(bytes).setProtectedHeader(header).sign(key))
      const answer = yield* call("POST", url, JSON.stringify(signed))
      keep(answer)
      const result = yield* Effect.result(accepted(server, answer))
      if (result._tag === "Success") return result.success
      if (result.failure.type !== "badNonce" || tried >= maxNonces) return yield* result.failure
    }
  })

  const bound = Effect.fnUntraced(function* ({ hmac, kid }: Binding) {
    const secret = Buffer.from(Redacted.value(hmac), "base64url")
    if (secret.length === 0)
      return yield* new AcmeFailed({
        reason: "rejected",
        detail: `The external account binding of ${server} is no base64url; the operator must correct it.`
      })
    return yield* Effect.promise(() =>
      new FlattenedSign(text(jwk)).setProtectedHeader({ alg: "HS256", kid, url: directory.newAccount }).sign(secret)
    )
  })

  const register = Effect.gen(function* () {
    const externalAccountBinding = binding === undefined ? undefined : yield* bound(binding)
    const answer = yield* send(directory.newAccount, { termsOfServiceAgreed: true, externalAccountBinding }, { jwk })
    return answer.location ?? (yield* untrusted(server, "it does not say where the account is"))
  })

  const account = (url: string): AcmeAccount => ({
    server,
    directory,
    url,
    thumbprint,
    get: (method, address) => Effect.flatMap(call(method, address), (answer) => accepted(server, answer)),
    post: (address, payload) => send(address, payload, { kid: url })
  })
  return account(known ?? (yield* register))
})
