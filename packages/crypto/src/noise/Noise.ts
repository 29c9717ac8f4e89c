/**
 * Starts a Noise session: `initiate` or `respond`.
 *
 * Keys that do not suit the pattern are refused before anything is sent. The caller supplies the entropy, which is consumed.
 */
import { Result } from "effect"
import * as Bytes from "../Bytes.ts"
import { kemLengths, type KeyPair, type Suite } from "../Suite.ts"
import { Handshake, topBit, type Kem } from "./Handshake.ts"
import { patternOf, peer, usesStatic, type PatternName, type Role } from "./HandshakePattern.ts"
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
  /**
   * Fresh random bytes: the 32 of the ephemeral secret, and 64 more for a hybrid pattern or a mark. They are consumed: the array is all
   * zero afterwards.
   */
  readonly entropy: Uint8Array
  /**
   * Tells the peer that this side speaks hybrid patterns, where `pattern` is none: sets the top bit of its ephemeral key, which X25519
   * ignores and the transcript covers. If both sides say so, the handshake becomes hybrid by a third message, and nobody on the way can
   * prevent it without ending it. A side that does not say so reads and writes the messages of before.
   */
  readonly wouldBeHybrid?: boolean
}

const refuse = (key: KeyRefused["key"], reason: KeyRefused["reason"]) => Result.fail(new KeyRefused({ key, reason }))

const suits = (key: "static" | "remoteStatic", wanted: boolean, given: Uint8Array | undefined) => {
  if (given === undefined) return wanted ? refuse(key, "missing") : Result.void
  if (!wanted) return refuse(key, "unused")
  return given.length === 32 ? Result.void : refuse(key, "malformed")
}

/**
 * Bytes of entropy that a pattern takes, without or with a mark (`Options.wouldBeHybrid`).
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { entropyLength } from "@catenet/crypto/noise/Noise"
 *
 * deepStrictEqual([entropyLength("IK"), entropyLength("IKhfs"), entropyLength("IK", true)], [32, 96, 96])
 * ```
 */
export const entropyLength = (pattern: PatternName, isMarked = false): number =>
  isMarked || patternOf(pattern).isHybrid ? 32 + kemLengths.seed : 32

/** The entropy. Zeros mean that another handshake has had it. */
const take = (entropy: Uint8Array, length: number) => {
  if (entropy.length !== length) return refuse("entropy", "malformed")
  if (entropy.every((byte) => byte === 0)) return refuse("entropy", "spent")
  const secret = Bytes.forSecret(length)
  secret.set(entropy)
  entropy.fill(0)
  return Result.succeed(secret)
}

const marked = (publicKey: Uint8Array) => publicKey.map((byte, at) => (at === 31 ? byte | topBit : byte))

/** The initiator of a hybrid pattern sends the encapsulation key; after marks the responder does, whose message is the next one. */
const kemOf = ({ mlkem768 }: Suite, sendsKey: boolean, entropy: Uint8Array): Kem => ({
  suite: mlkem768,
  entropy: sendsKey ? entropy : entropy.subarray(0, kemLengths.entropy),
  pair: undefined,
  theirs: undefined
})

const start = (suite: Suite, role: Role, options: Options): Result.Result<Handshake, KeyRefused> =>
  Result.gen(function* () {
    const { hash = "BLAKE2s", prologue = new Uint8Array(0), static: own, remoteStatic } = options
    const { isHybrid, pattern } = patternOf(options.pattern)
    yield* suits("static", usesStatic(pattern, role), own?.publicKey)
    yield* suits("remoteStatic", pattern.known.includes(peer(role)), remoteStatic)
    const isMarked = options.wouldBeHybrid === true && !isHybrid
    const entropy = yield* take(options.entropy, entropyLength(options.pattern, isMarked))
    const secret = entropy.subarray(0, 32)
    const pair = suite.x25519.keyPair(secret)
    secret.fill(0)
    const ephemeral = isMarked ? { ...pair, publicKey: marked(pair.publicKey) } : pair
    const kem =
      isHybrid || isMarked ? kemOf(suite, isHybrid === (role === "initiator"), entropy.subarray(32)) : undefined

    const agreement = isHybrid ? "25519+MLKEM768" : "25519"
    const symmetric = new SymmetricState(suite, hash, `Noise_${options.pattern}_${agreement}_ChaChaPoly_${hash}`)
    symmetric.mixHash(prologue)
    for (const known of pattern.known) {
      const publicKey = known === role ? own?.publicKey : remoteStatic
      if (publicKey !== undefined) symmetric.mixHash(publicKey)
    }
    const remote = { remoteStatic: remoteStatic && Bytes.copy(remoteStatic), remoteEphemeral: undefined }
    return new Handshake({ role, pattern, isMarked, symmetric, static: own, ephemeral, kem, ...remote, index: 0 })
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
