/** Reads the signed requests of ACME (RFC 8555 section 6.2), their payloads, and the bindings to external accounts (section 7.3.4). */
import { Schema } from "effect"
import { base64url, calculateJwkThumbprint, type FlattenedJWSInput, flattenedVerify, importJWK, type JWK } from "jose"
import { AcmeProblem } from "./AcmeProblem.ts"

/** The development authority that takes only accounts which are bound to this one. */
export const boundPath = "/bound"
export const boundAccount = "development"

/** What clients send to the development ACME server. */
export const NewOrder = Schema.Struct({
  identifiers: Schema.Tuple([Schema.Struct({ type: Schema.Literal("dns"), value: Schema.String })]),
  replaces: Schema.optionalKey(Schema.String)
})
export const Finalize = Schema.Struct({ csr: Schema.String })
export const Revocation = Schema.Struct({ certificate: Schema.String, reason: Schema.optionalKey(Schema.Int) })
export const NewAccount = Schema.Struct({
  externalAccountBinding: Schema.optionalKey(Schema.Unknown),
  onlyReturnExisting: Schema.optionalKey(Schema.Boolean)
})

const Jws = Schema.Struct({ protected: Schema.String, payload: Schema.String, signature: Schema.String })
const PublicKey = Schema.Struct({
  kty: Schema.Literal("EC"),
  crv: Schema.Literal("P-256"),
  x: Schema.String,
  y: Schema.String
})
const Header = Schema.Struct({
  alg: Schema.Literal("ES256"),
  nonce: Schema.String,
  url: Schema.String,
  jwk: Schema.optionalKey(PublicKey),
  kid: Schema.optionalKey(Schema.String)
})
const BindingHeader = Schema.Struct({ alg: Schema.Literal("HS256"), kid: Schema.String, url: Schema.String })

const read = <A>(schema: Schema.Decoder<A>, value: unknown, what: string): A => {
  try {
    return Schema.decodeUnknownSync(schema)(value)
  } catch {
    throw new AcmeProblem("malformed", `${what} is not what RFC 8555 says`)
  }
}

export const decode = <A>(schema: Schema.Decoder<A>, value: unknown): A => read(schema, value, "the payload")

const json = (text: string, what: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new AcmeProblem("malformed", `${what} is no JSON`)
  }
}

const headerOf = <A>(schema: Schema.Decoder<A>, { protected: header }: typeof Jws.Type) =>
  read(schema, json(new TextDecoder().decode(base64url.decode(header)), "the protected header"), "the protected header")

/** A request that was signed. `payload` is undefined in a POST-as-GET. */
export interface Signed {
  readonly payload: unknown
  readonly thumbprint: string
  readonly jwk: JWK
  /** The account's URL, where the request names one. */
  readonly kid: string | undefined
}

/** The key of a request; fails where its nonce, its address or its signature is wrong. */
export const verify = async (
  body: string,
  url: string,
  spendNonce: (nonce: string) => boolean,
  keyOf: (kid: string) => JWK
): Promise<Signed> => {
  const jws = read(Jws, json(body, "the request"), "the request")
  const header = headerOf(Header, jws)
  if (!spendNonce(header.nonce)) throw new AcmeProblem("badNonce", "the nonce was not given here, or was used before")
  if (header.url !== url) throw new AcmeProblem("unauthorized", "the request was signed for another address")
  if ((header.jwk === undefined) === (header.kid === undefined))
    throw new AcmeProblem("malformed", "a request names a key or an account, and not both")
  const jwk: JWK = header.jwk ?? keyOf(header.kid ?? "")
  await check(jws, jwk, "ES256")
  const payload =
    jws.payload === "" ? undefined : json(new TextDecoder().decode(base64url.decode(jws.payload)), "the payload")
  return { payload, jwk, kid: header.kid, thumbprint: await calculateJwkThumbprint(jwk) }
}

const check = async (jws: FlattenedJWSInput, key: JWK | Uint8Array, alg: string) => {
  try {
    await flattenedVerify(jws, key instanceof Uint8Array ? key : await importJWK(key, alg))
  } catch {
    throw new AcmeProblem("malformed", "the signature does not verify")
  }
}

/** Checks that the operator's account agrees to the new one. */
export const checkBinding = async (
  given: unknown,
  jwk: JWK,
  url: string,
  { hmac, kid }: { readonly hmac: Uint8Array; readonly kid: string }
) => {
  if (given === undefined)
    throw new AcmeProblem("externalAccountRequired", "an account needs an external account binding")
  const jws = read(Jws, given, "the external account binding")
  const header = headerOf(BindingHeader, jws)
  const bound = json(new TextDecoder().decode(base64url.decode(jws.payload)), "the bound key")
  if (header.kid !== kid || header.url !== url) throw new AcmeProblem("unauthorized", "no such external account")
  if ((await calculateJwkThumbprint(read(PublicKey, bound, "the bound key"))) !== (await calculateJwkThumbprint(jwk)))
    throw new AcmeProblem("malformed", "the binding is of another key")
  await check(jws, hmac, "HS256")
}
