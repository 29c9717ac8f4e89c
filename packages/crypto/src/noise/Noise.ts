/**
 * Starts a Noise session: `initiate` or `respond`.
 *
 * Keys that do not suit the pattern are refused before anything is sent. The caller supplies the entropy, which is consumed.
 */
import { Result } from "effect"
import * as Bytes from "../Bytes.ts"
import type { KeyPair, Suite } from "../Suite.ts"
import { Handshake } from "./Handshake.ts"
import { patterns, peer, usesStatic, type Pattern, type PatternName, type Role } from "./HandshakePattern.ts"
import { KeyRefused } from "./NoiseError.ts"
import { SymmetricState, type HashName } from "./SymmetricState.ts"

/** Options of one side. */
export interface Options {
  /** `IK` on every plane of ours. */
  readonly pattern: PatternName
  /** `BLAKE2s` unless said otherwise. */
  readonly hash?: HashName
  /** Bytes both sides must agree on; empty unless said otherwise. */
  readonly prologue?: Uint8Array
  /** This side's static key; required by some patterns, refused by the others. */
  readonly static?: KeyPair
  /** The peer's static key, if the pattern requires it to be known beforehand; refused otherwise. */
  readonly remoteStatic?: Uint8Array
  /** 32 fresh random bytes, the ephemeral secret. They are consumed: the array is all zero afterwards. */
  readonly entropy: Uint8Array
}

const refuse = (key: KeyRefused["key"], reason: KeyRefused["reason"]) => Result.fail(new KeyRefused({ key, reason }))

const suits = (key: "static" | "remoteStatic", wanted: boolean, given: Uint8Array | undefined) => {
  if (given === undefined) return wanted ? refuse(key, "missing") : Result.void
  if (!wanted) return refuse(key, "unused")
  return given.length === 32 ? Result.void : refuse(key, "malformed")
}

/** The ephemeral secret. Zeros mean that another handshake has had it. */
const take = (entropy: Uint8Array) => {
  if (entropy.length !== 32) return refuse("entropy", "malformed")
  if (entropy.every((byte) => byte === 0)) return refuse("entropy", "spent")
  const secret = Bytes.copy(entropy)
  entropy.fill(0)
  return Result.succeed(secret)
}

const start = (suite: Suite, role: Role, options: Options): Result.Result<Handshake, KeyRefused> =>
  Result.gen(function* () {
    const { hash = "BLAKE2s", prologue = new Uint8Array(0), static: own, remoteStatic } = options
    const pattern: Pattern = patterns[options.pattern]
    yield* suits("static", usesStatic(pattern, role), own?.publicKey)
    yield* suits("remoteStatic", pattern.known.includes(peer(role)), remoteStatic)
    const ephemeral = suite.x25519.keyPair(yield* take(options.entropy))

    const symmetric = new SymmetricState(suite, hash, `Noise_${options.pattern}_25519_ChaChaPoly_${hash}`)
    symmetric.mixHash(prologue)
    for (const known of pattern.known) {
      const publicKey = known === role ? own?.publicKey : remoteStatic
      if (publicKey !== undefined) symmetric.mixHash(publicKey)
    }
    const remote = { remoteStatic: remoteStatic && Bytes.copy(remoteStatic), remoteEphemeral: undefined }
    return new Handshake({ role, pattern, symmetric, static: own, ephemeral, ...remote, index: 0 })
  })

/**
 * The side that sends the first message.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Result } from "effect"
 * import { initiate, respond } from "@catenet/crypto/noise/Noise"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const random = (byte) => new Uint8Array(32).fill(byte) // stands for 32 bytes of entropy
 * const ada = portable.x25519.keyPair(random(1))
 * const bob = portable.x25519.keyPair(random(2))
 * const session = Result.gen(function* () {
 *   const left = yield* initiate(portable, {
 *     pattern: "IK",
 *     static: ada,
 *     remoteStatic: bob.publicKey,
 *     entropy: random(3)
 *   })
 *   const right = yield* respond(portable, { pattern: "IK", static: bob, entropy: random(4) })
 *   yield* right.readMessage(yield* left.writeMessage())
 *   yield* left.readMessage(yield* right.writeMessage())
 *   return [yield* left.finish(), yield* right.finish()]
 * })
 * const [left, right] = Result.getOrThrow(session)
 * deepStrictEqual(right.remoteStatic, ada.publicKey)
 * deepStrictEqual(right.handshakeHash, left.handshakeHash)
 * ```
 */
export const initiate = (suite: Suite, options: Options): Result.Result<Handshake, KeyRefused> =>
  start(suite, "initiator", options)

/**
 * The side that answers. In `IK` it learns the initiator's static key and must check it: see `Transport.remoteStatic`.
 *
 * ```ts
 * import { ok, strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import { respond } from "@catenet/crypto/noise/Noise"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const entropy = new Uint8Array(32).fill(1)
 * const first = respond(portable, { pattern: "NN", entropy })
 * strictEqual(Result.getOrThrow(first).next, "read")
 * ok(entropy.every((byte) => byte === 0))
 * const second = respond(portable, { pattern: "NN", entropy })
 * strictEqual(Result.getOrThrow(Result.flip(second)).reason, "spent")
 * ```
 */
export const respond = (suite: Suite, options: Options): Result.Result<Handshake, KeyRefused> =>
  start(suite, "responder", options)

/**
 * Options with a fixed ephemeral secret, to replay published vectors. Two sessions with the same ephemeral secret reveal their
 * plaintext: never use this outside tests.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Result } from "effect"
 * import { initiate, withFixedEphemeralForTestingOnly } from "@catenet/crypto/noise/Noise"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const options = { pattern: "NN", entropy: new Uint8Array(32).fill(1) }
 * const first = () => Result.flatMap(initiate(portable, withFixedEphemeralForTestingOnly(options)), (it) => it.writeMessage())
 * deepStrictEqual(first(), first())
 * ```
 */
export const withFixedEphemeralForTestingOnly = (options: Options): Options => ({
  ...options,
  entropy: Bytes.copy(options.entropy)
})
