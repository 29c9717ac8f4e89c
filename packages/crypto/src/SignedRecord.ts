/**
 * Signed records: their layout (`define`), their checks, and what can be wrong with one (section 0.4).
 *
 * The errors name the failed check and are for logs. A peer gets a coarser answer, such as a token of `admission/Refusal`, so that
 * it cannot tell a wrong key from a wrong signature.
 */
import { Data, Option, Record, Redacted, Result } from "effect"
import type { Seconds } from "./Integer.ts"
import * as Preimage from "./Preimage.ts"
import type { Suite } from "./Suite.ts"

/** The bytes or the JSON are not such a record. */
export class Malformed extends Data.TaggedError("Malformed")<{ readonly record: string; readonly why: string }> {
  override get message() {
    return `${this.record}: ${this.why}`
  }
}

/** The key that should have signed is not a point of the curve. */
export class BadKey extends Data.TaggedError("BadKey")<{ readonly record: string }> {
  override get message() {
    return `${this.record}: the signer's key is no curve point`
  }
}

/** The signature does not hold under that key. */
export class BadSignature extends Data.TaggedError("BadSignature")<{ readonly record: string }> {
  override get message() {
    return `${this.record}: the signature does not hold`
  }
}

/** The signature holds, but the record has expired: `now >= expiresAt`. */
export class Expired extends Data.TaggedError("Expired")<{ readonly record: string; readonly expiresAt: bigint }> {
  override get message() {
    return `${this.record}: expired at ${this.expiresAt}`
  }
}

/**
 * Alive while `now < expiresAt`: at equality the record has expired. No allowance for clock skew.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { alive } from "@catenet/crypto/SignedRecord"
 *
 * ok(alive(999, 1000n) && !alive(1000, 1000n))
 * ```
 */
export const alive = (now: Seconds, expiresAt: bigint): boolean => now < expiresAt

const written = (preimage: () => Uint8Array): Uint8Array | undefined => {
  try {
    return preimage()
  } catch {
    return undefined
  }
}

/**
 * Whether the signature over the preimage holds. A record that cannot be written at all (a key of the wrong size, half a
 * surrogate pair) was never signed, so the answer is no.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { holds } from "@catenet/crypto/SignedRecord"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = new Uint8Array(32).fill(7)
 * const message = Uint8Array.of(1, 2, 3)
 * const signature = portable.ed25519.sign(seed, message)
 * ok(holds(portable, portable.ed25519.publicKey(seed), () => message, signature))
 * ```
 */
export const holds = (
  suite: Suite,
  publicKey: Uint8Array,
  preimage: () => Uint8Array,
  signature: Uint8Array
): boolean => {
  const message = written(preimage)
  return message !== undefined && suite.ed25519.verifyLenient(publicKey, message, signature)
}

/**
 * Like `holds`, but rejects a key or R of small order. For proofs that strangers send to a server: no program produces such a
 * signature, and the lenient rule would need a second check that costs the server several times what the signature costs its
 * sender.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { holdsStrictly } from "@catenet/crypto/SignedRecord"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const signature = new Uint8Array(64)
 * ok(!holdsStrictly(portable, new Uint8Array(32), () => Uint8Array.of(1), signature))
 * ```
 */
export const holdsStrictly = (
  suite: Suite,
  publicKey: Uint8Array,
  preimage: () => Uint8Array,
  signature: Uint8Array
): boolean => {
  const message = written(preimage)
  return message !== undefined && suite.ed25519.verify(publicKey, message, signature)
}

/** A record of kind A in parts. */
export interface Claim {
  readonly record: string
  readonly publicKey: Uint8Array
  readonly preimage: () => Uint8Array
  readonly signature: Uint8Array
  readonly expiresAt: bigint
}

/**
 * Kind A: key form, then signature, then expiry. A forged and expired record reports the bad signature.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import { check } from "@catenet/crypto/SignedRecord"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = new Uint8Array(32).fill(7)
 * const message = Uint8Array.of(1, 2, 3)
 * const claim = {
 *   record: "example",
 *   publicKey: portable.ed25519.publicKey(seed),
 *   preimage: () => message,
 *   signature: portable.ed25519.sign(seed, message),
 *   expiresAt: 1000n
 * }
 * strictEqual(Result.isSuccess(check(portable, claim, 999)), true)
 * strictEqual(Result.getOrThrow(Result.flip(check(portable, claim, 1000)))._tag, "Expired")
 * ```
 */
export const check = (
  suite: Suite,
  claim: Claim,
  now: Seconds
): Result.Result<void, BadKey | BadSignature | Expired> => {
  const { record, expiresAt } = claim
  if (!holds(suite, claim.publicKey, claim.preimage, claim.signature)) {
    return Result.fail(
      suite.ed25519.isPublicKey(claim.publicKey) ? new BadSignature({ record }) : new BadKey({ record })
    )
  }
  return alive(now, expiresAt) ? Result.succeed(undefined) : Result.fail(new Expired({ record, expiresAt }))
}

/** Writes the value of one field into the signed bytes. */
export type Field<A> = (value: A) => Uint8Array

type Fields = Readonly<Record<string, Field<never>>>
type Value<F> = F extends Field<infer A> ? A : never

/** The record that these fields describe. A field whose writer takes `undefined` may be missing. */
export type Values<F extends Fields> = {
  readonly [K in keyof F as undefined extends Value<F[K]> ? never : K]: Value<F[K]>
} & {
  readonly [K in keyof F as undefined extends Value<F[K]> ? K : never]?: Exclude<Value<F[K]>, undefined>
}

/** What is signed: the domain, which keeps records of one kind from being taken for another, and the fields in their order. */
export interface Layout<F extends Fields> {
  readonly domain: string
  /** The domain is written without its length (`Preimage.raw`). */
  readonly isRaw?: boolean
  readonly fields: F
}

type Seed = Redacted.Redacted<Uint8Array>
type Writable = Readonly<Record<string, unknown>>

const writerOf = <F extends Fields>({ domain, fields, isRaw = false }: Layout<F>) => {
  const entries = Object.entries(fields as unknown as Readonly<Record<string, Field<unknown>>>)
  const finish = isRaw ? Preimage.raw : Preimage.make
  return (record: Values<F>): Uint8Array =>
    finish(
      domain,
      ...entries.map(([name, write]) => write(Option.getOrUndefined(Record.get(record as Writable, name))))
    )
}

/**
 * A record that one of its own fields signs: `signer` names the field that is the key.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Preimage from "@catenet/crypto/Preimage"
 * import { portable } from "@catenet/crypto/portable"
 * import * as SignedRecord from "@catenet/crypto/SignedRecord"
 *
 * const note = SignedRecord.define({
 *   domain: "example-note-v1",
 *   signer: "author",
 *   fields: { author: Preimage.fixed32, text: Preimage.text }
 * })
 * const seed = Redacted.make(new Uint8Array(32).fill(7))
 * const author = portable.ed25519.publicKey(Redacted.value(seed))
 * const signature = note.sign(portable, seed, { text: "hi" })
 * ok(note.verify(portable, { author, text: "hi" }, signature))
 * ok(!note.verify(portable, { author, text: "ho" }, signature))
 * ```
 */
export const define = <const F extends Fields, const S extends keyof F & keyof Values<F> & string>(
  layout: Layout<F> & { readonly signer: S }
) => {
  const { signer } = layout
  const preimage = writerOf(layout)
  const keyOf = (record: Values<F>) => Option.getOrThrow(Record.get(record as Writable, signer)) as Uint8Array
  const complete = (suite: Suite, seed: Uint8Array, rest: Omit<Values<F>, S>) =>
    ({ ...rest, [signer]: suite.ed25519.publicKey(seed) }) as unknown as Values<F>
  const signWith = (suite: Suite, seed: Uint8Array, record: Values<F>) => suite.ed25519.sign(seed, preimage(record))
  const verify = (suite: Suite, record: Values<F>, signature: Uint8Array): boolean =>
    holds(suite, keyOf(record), () => preimage(record), signature)
  return {
    /** The signed bytes. */
    preimage,
    /** The 64-byte signature; the signer's key is the seed's own. */
    sign: (suite: Suite, seed: Seed, rest: Omit<Values<F>, S>): Uint8Array => {
      const bytes = Redacted.value(seed)
      return signWith(suite, bytes, complete(suite, bytes, rest))
    },
    /** Whether the signer signed this record. It says nothing about its times. */
    verify,
    /** The record with its signer and its signature. */
    signed: (suite: Suite, seed: Seed, rest: Omit<Values<F>, S>): Values<F> & { readonly signature: Uint8Array } => {
      const bytes = Redacted.value(seed)
      const record = complete(suite, bytes, rest)
      return { ...record, signature: signWith(suite, bytes, record) }
    },
    /** Whether the record is alive at `now` and signed by its signer. */
    isValid: (
      suite: Suite,
      record: Values<F> & { readonly expiresAt: bigint; readonly signature: Uint8Array },
      now: Seconds
    ): boolean => alive(now, record.expiresAt) && verify(suite, record, record.signature)
  }
}

/**
 * A record that a stranger signs with a key which is not in it. Verification is strict (`holdsStrictly`).
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Preimage from "@catenet/crypto/Preimage"
 * import { portable } from "@catenet/crypto/portable"
 * import * as SignedRecord from "@catenet/crypto/SignedRecord"
 *
 * const ping = SignedRecord.defineDetached({ domain: "example-ping-v1", fields: { id: Preimage.text } })
 * const seed = new Uint8Array(32).fill(7)
 * const signature = ping.sign(portable, Redacted.make(seed), { id: "a" })
 * ok(ping.verify(portable, portable.ed25519.publicKey(seed), { id: "a" }, signature))
 * ```
 */
export const defineDetached = <const F extends Fields>(layout: Layout<F>) => {
  const preimage = writerOf(layout)
  return {
    preimage,
    sign: (suite: Suite, seed: Seed, record: Values<F>): Uint8Array =>
      suite.ed25519.sign(Redacted.value(seed), preimage(record)),
    verify: (suite: Suite, key: Uint8Array, record: Values<F>, signature: Uint8Array): boolean =>
      holdsStrictly(suite, key, () => preimage(record), signature)
  }
}
