/**
 * The two ways into a Noise session: `initiate` and `respond`.
 *
 * Refuses keys that do not suit the pattern before anything is sent. Entropy is the caller's and is used up.
 */
import { Result } from "effect"
import type { KeyPair, Suite } from "../Suite.ts"
import { Handshake } from "./Handshake.ts"
import { KeyRefused } from "./NoiseError.ts"
import { patterns, peer, usesStatic, type Pattern, type PatternName, type Role } from "./Pattern.ts"
import { SymmetricState, type HashName } from "./SymmetricState.ts"

/** What one side brings. */
export interface Options {
  /** `IK` on every plane of ours. */
  readonly pattern: PatternName
  /** `BLAKE2s` unless said otherwise. */
  readonly hash?: HashName
  /** Bytes both sides must agree on; empty unless said otherwise. */
  readonly prologue?: Uint8Array
  /** The own static key, exactly where the pattern has one. */
  readonly static?: KeyPair
  /** The peer's static key, exactly where the pattern has it known beforehand. */
  readonly remoteStatic?: Uint8Array
  /** 32 fresh random bytes, the ephemeral secret. They are taken: the array is all zero afterwards. */
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
  const secret = entropy.slice()
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
    const remote = { remoteStatic: remoteStatic?.slice(), remoteEphemeral: undefined }
    return new Handshake({ role, pattern, symmetric, static: own, ephemeral, ...remote, index: 0 })
  })

/**
 * The side that sends the first message.
 *
 * ```ts
 * const entropy = (seed: number) => new Uint8Array(32).fill(seed) // fresh random bytes in earnest
 * const [ada, bob] = [portable.x25519.keyPair(entropy(1)), portable.x25519.keyPair(entropy(2))]
 * const initiator = Result.getOrThrow(
 *   initiate(portable, { pattern: "IK", static: ada, remoteStatic: bob.publicKey, entropy: entropy(3) })
 * )
 * const responder = Result.getOrThrow(respond(portable, { pattern: "IK", static: bob, entropy: entropy(4) }))
 * Result.getOrThrow(responder.readMessage(Result.getOrThrow(initiator.writeMessage())))
 * Result.getOrThrow(initiator.readMessage(Result.getOrThrow(responder.writeMessage())))
 * const [left, right] = [Result.getOrThrow(initiator.finish()), Result.getOrThrow(responder.finish())]
 * assert.deepStrictEqual(right.remoteStatic, ada.publicKey)
 * const message = Result.getOrThrow(left.encrypt(new TextEncoder().encode("hello")))
 * assert.strictEqual(new TextDecoder().decode(Result.getOrThrow(right.decrypt(message))), "hello")
 * ```
 */
export const initiate = (suite: Suite, options: Options): Result.Result<Handshake, KeyRefused> =>
  start(suite, "initiator", options)

/** The side that answers. In `IK` it learns the initiator's static key and judges it: see `Transport.remoteStatic`. */
export const respond = (suite: Suite, options: Options): Result.Result<Handshake, KeyRefused> =>
  start(suite, "responder", options)

/**
 * Options whose ephemeral secret stays in the caller's hands, to replay published vectors. Two sessions with one
 * ephemeral secret reveal what they carry: never outside tests.
 */
export const withFixedEphemeralForTestingOnly = (options: Options): Options => ({
  ...options,
  entropy: options.entropy.slice()
})
