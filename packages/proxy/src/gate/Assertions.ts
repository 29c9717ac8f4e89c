/**
 * `X-Gate-Assertion`: who a visitor is, as a JWT (RFC 7519) that the party signs which enforces the login, so that an origin need
 * not trust the network between them. The keys are Ed25519; each party of a host publishes those of all of them.
 */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from "node:crypto"
import type { GateIdentity } from "../http1/RequestHead.ts"
import { type ProxyResponse, response } from "../ProxyPages.ts"

/** Where a host publishes its keys (RFC 7517). */
export const keysPath = "/.well-known/catenet/jwks.json"
/** How long an assertion is valid, unless the session ends before. */
const lifetimeSeconds = 300
/** How long an origin may use the keys before it asks again. */
const keysMaxAge = 60

/** Seeds of 32 bytes: the one that signs, and those with which an assertion that is still valid may be signed. */
export interface AssertionKeys {
  readonly current: Uint8Array
  readonly opening: ReadonlyArray<Uint8Array>
}

interface Signer {
  readonly key: KeyObject
  readonly x: string
  /** The encoded header of its assertions. */
  readonly header: string
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")

/** The thumbprint of RFC 7638. */
const kidOf = (x: string): string => hash("sha256", `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`, "base64url")

/** Before a seed, PKCS #8 of Ed25519 (RFC 8410). */
const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex")

const signers = new WeakMap<Uint8Array, Signer>()

const signerOf = (seed: Uint8Array): Signer => {
  const known = signers.get(seed)
  if (known !== undefined) return known
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: "der", type: "pkcs8" })
  const { x = "" } = createPublicKey(key).export({ format: "jwk" })
  const signer = { key, x, header: encoded({ alg: "EdDSA", typ: "JWT", kid: kidOf(x) }) }
  signers.set(seed, signer)
  return signer
}

/** `until`: when the session expires, in unix milliseconds. */
export const assertion = (
  { current }: AssertionKeys,
  { email, subject }: GateIdentity,
  host: string,
  until: number | null,
  now: number
): string => {
  const { header, key } = signerOf(current)
  const iat = Math.floor(now / 1_000)
  const exp = Math.min(iat + lifetimeSeconds, until === null ? Infinity : Math.ceil(until / 1_000))
  const claims = { iss: `https://${host}`, aud: host, sub: subject, email, iat, exp }
  const text = `${header}.${encoded(claims)}`
  return `${text}.${sign(null, Buffer.from(text), key).toString("base64url")}`
}

/** The keys of this party and of others, which are public keys in hex. */
export const keySet = ({ opening }: AssertionKeys, others: ReadonlyArray<string>): ProxyResponse => {
  const all = new Set([
    ...opening.map((seed) => signerOf(seed).x),
    ...others.map((key) => Buffer.from(key, "hex").toString("base64url"))
  ])
  const keys = Array.from(all, (x) => ({ kty: "OKP", crv: "Ed25519", x, kid: kidOf(x), alg: "EdDSA", use: "sig" }))
  return response(200, "application/json", JSON.stringify({ keys }), {
    "Cache-Control": `public, max-age=${keysMaxAge}`
  })
}
