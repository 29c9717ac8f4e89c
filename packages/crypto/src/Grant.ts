/**
 * A member grant (section 4): the operator's signed statement that a holder may join a channel, in one direction or both, until a
 * time. 139 bytes, 278 hex. It may be presented any number of times.
 */
import { Redacted, Result } from "effect"
import * as Hex from "./Hex.ts"
import type { Seconds } from "./Integer.ts"
import * as Permission from "./Permission.ts"
import { type BadKey, type BadSignature, check, type Expired, Malformed } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** What a grant says. */
export interface Claims extends Permission.Permission {
  /** 32 bytes. */
  readonly channel: Uint8Array
  /** 32 bytes. */
  readonly holder: Uint8Array
}

/** A grant as its holder carries it. */
export interface Grant extends Claims {
  /** 64 bytes. */
  readonly signature: Uint8Array
}

const record = "grant"

/**
 * The signed text as bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Grant from "@catenet/crypto/Grant"
 *
 * const key = new Uint8Array(32)
 * const claims = { channel: key, holder: key, direction: "both", rights: "rw", delegable: true, expiresAt: 1000n }
 * strictEqual(Grant.preimage(claims).length, 156)
 * ```
 */
export const preimage = (claims: Claims): Uint8Array =>
  Permission.preimage("ct-grant:v1", { ...claims, subject: claims.holder })

/**
 * Signs the claims with the operator's seed.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as Grant from "@catenet/crypto/Grant"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(7))
 * const operator = portable.ed25519.publicKey(Redacted.value(seed))
 * const [channel, holder] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
 * const claims = { channel, holder, direction: "both", rights: "rw", delegable: false, expiresAt: 1000n }
 * const grant = Grant.sign(portable, seed, claims)
 * ok(Result.isSuccess(Grant.verify(portable, grant, operator, 999)))
 * ```
 */
export const sign = (suite: Suite, operatorSeed: Redacted.Redacted<Uint8Array>, claims: Claims): Grant => ({
  ...claims,
  signature: suite.ed25519.sign(Redacted.value(operatorSeed), preimage(claims))
})

/**
 * The 139 wire bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Grant from "@catenet/crypto/Grant"
 *
 * const key = new Uint8Array(32)
 * const claims = { channel: key, holder: key, direction: "both", rights: "rw", delegable: true, expiresAt: 1000n }
 * strictEqual(Grant.encode({ ...claims, signature: new Uint8Array(64) }).length, 139)
 * ```
 */
export const encode = (grant: Grant): Uint8Array => Permission.encode({ ...grant, subject: grant.holder })

/**
 * Reads exactly 139 bytes; nothing is verified.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Grant from "@catenet/crypto/Grant"
 *
 * strictEqual(Result.getOrThrow(Result.flip(Grant.decode(new Uint8Array(138))))._tag, "Malformed")
 * ```
 */
export const decode = (bytes: Uint8Array): Result.Result<Grant, Malformed> =>
  Result.map(Permission.decode(record, bytes), ({ subject, ...signed }) => ({ ...signed, holder: subject }))

/**
 * The 278 lowercase hex characters.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Grant from "@catenet/crypto/Grant"
 *
 * const key = new Uint8Array(32)
 * const claims = { channel: key, holder: key, direction: "both", rights: "rw", delegable: true, expiresAt: 1000n }
 * strictEqual(Grant.toHex({ ...claims, signature: new Uint8Array(64) }).length, 278)
 * ```
 */
export const toHex = (grant: Grant): string => Hex.encode(encode(grant))

/**
 * Reads exactly 278 hex characters of either case. Trimming is the caller's choice.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Grant from "@catenet/crypto/Grant"
 *
 * ok(Result.isSuccess(Grant.fromHex("0".repeat(256) + "010100" + "0".repeat(16))))
 * ```
 */
export const fromHex = (text: string): Result.Result<Grant, Malformed> =>
  Hex.decode(text, Permission.wireLength).pipe(
    Result.mapError((error) => new Malformed({ record, why: error.message })),
    Result.flatMap(decode)
  )

/**
 * Checks a grant under the channel's operator key: key form, then signature, then expiry.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Grant from "@catenet/crypto/Grant"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const grant = Result.getOrThrow(Grant.fromHex("0".repeat(256) + "010100" + "0".repeat(16)))
 * const operator = portable.ed25519.publicKey(new Uint8Array(32).fill(7))
 * strictEqual(Result.getOrThrow(Result.flip(Grant.verify(portable, grant, operator, 0)))._tag, "BadSignature")
 * ```
 */
export const verify = (
  suite: Suite,
  grant: Grant,
  operator: Uint8Array,
  now: Seconds
): Result.Result<void, BadKey | BadSignature | Expired> => {
  const { signature, expiresAt } = grant
  return check(suite, { record, publicKey: operator, preimage: () => preimage(grant), signature, expiresAt }, now)
}
