/** An agent's credential within a tenant (section 8.7), minted by the control plane. No live path presents one. */
import { Redacted, type Result } from "effect"
import * as Bytes from "./Bytes.ts"
import * as Integer from "./Integer.ts"
import * as Preimage from "./Preimage.ts"
import * as Reader from "./Reader.ts"
import { type BadKey, type BadSignature, check, type Expired, type Malformed } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** What a credential says. */
export interface Claims {
  readonly tenant: string
  readonly agent: string
  readonly expiresAt: bigint
}

/** A signed credential. */
export interface Credential extends Claims {
  readonly signature: Uint8Array
}

const record = "credential"

const fields = (claims: Claims) => [
  Preimage.text(claims.tenant),
  Preimage.text(claims.agent),
  Integer.u64le(claims.expiresAt)
]

/**
 * The signed bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Credential from "@catenet/crypto/Credential"
 *
 * strictEqual(Credential.preimage({ tenant: "t", agent: "a", expiresAt: 1n }).length, 14 + 5 + 5 + 8)
 * ```
 */
export const preimage = (claims: Claims): Uint8Array => Preimage.make("ct-cred:v1", ...fields(claims))

/**
 * Signs the claims with the issuer's seed.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as Credential from "@catenet/crypto/Credential"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(9))
 * const issuer = portable.ed25519.publicKey(Redacted.value(seed))
 * const credential = Credential.sign(portable, seed, { tenant: "t", agent: "a", expiresAt: 1000n })
 * strictEqual(Result.isSuccess(Credential.verify(portable, credential, issuer, 999)), true)
 * ```
 */
export const sign = (suite: Suite, issuerSeed: Redacted.Redacted<Uint8Array>, claims: Claims): Credential => ({
  ...claims,
  signature: suite.ed25519.sign(Redacted.value(issuerSeed), preimage(claims))
})

/**
 * The wire form: signature, then the fields as they are signed.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Credential from "@catenet/crypto/Credential"
 *
 * strictEqual(Credential.encode({ tenant: "t", agent: "a", expiresAt: 1n, signature: new Uint8Array(64) }).length, 82)
 * ```
 */
export const encode = (credential: Credential): Uint8Array =>
  Bytes.concat(Preimage.fixed64(credential.signature), ...fields(credential))

/**
 * Reads a wire form; nothing is verified.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Credential from "@catenet/crypto/Credential"
 *
 * ok(Result.isFailure(Credential.decode(new Uint8Array(79))))
 * ```
 */
export const decode = (bytes: Uint8Array): Result.Result<Credential, Malformed> =>
  Reader.decode(record, bytes, (reader) => ({
    signature: reader.take(64),
    tenant: reader.text(),
    agent: reader.text(),
    expiresAt: reader.u64le()
  }))

/**
 * Checks a credential under the issuer's key: key form, then signature, then expiry.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Credential from "@catenet/crypto/Credential"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const forged = { tenant: "t", agent: "a", expiresAt: 1000n, signature: new Uint8Array(64).fill(1) }
 * const refused = Result.getOrThrow(Result.flip(Credential.verify(portable, forged, new Uint8Array(31), 999)))
 * strictEqual(refused._tag, "BadKey")
 * ```
 */
export const verify = (
  suite: Suite,
  credential: Credential,
  issuer: Uint8Array,
  now: Integer.Seconds
): Result.Result<void, BadKey | BadSignature | Expired> => {
  const { signature, expiresAt } = credential
  return check(suite, { record, publicKey: issuer, preimage: () => preimage(credential), signature, expiresAt }, now)
}
