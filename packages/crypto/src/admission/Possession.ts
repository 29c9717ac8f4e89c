/**
 * The proof that the presenter of a grant has the holder's key (section 6.3): a signature over exactly the edge's 32 random bytes.
 * No signed record of ours is 32 bytes long, so a challenge cannot be turned into one.
 */
import { Redacted, Result } from "effect"
import * as Bytes from "../Bytes.ts"
import { holds } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"
import { Broken, Incomplete, Refused } from "./Outcome.ts"
import * as Refusal from "./Refusal.ts"

/** Bytes of a challenge on the wire. */
export const challengeLength = 32

/**
 * The holder's 64-byte answer to a challenge.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Possession from "@catenet/crypto/admission/Possession"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x41))
 * const challenge = new Uint8Array(32).fill(0x5a)
 * const holder = portable.ed25519.publicKey(Redacted.value(seed))
 * ok(Possession.verify(portable, holder, challenge, Possession.prove(portable, seed, challenge)))
 * ```
 */
export const prove = (suite: Suite, holderSeed: Redacted.Redacted<Uint8Array>, challenge: Uint8Array): Uint8Array =>
  suite.ed25519.sign(Redacted.value(holderSeed), challenge)

/**
 * Whether the holder signed exactly these bytes. It takes a challenge of any length; the wire always uses 32 bytes.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Possession from "@catenet/crypto/admission/Possession"
 * import { portable } from "@catenet/crypto/portable"
 *
 * ok(!Possession.verify(portable, new Uint8Array(32), new Uint8Array(32), new Uint8Array(64).fill(1)))
 * ```
 */
export const verify = (suite: Suite, holder: Uint8Array, challenge: Uint8Array, signature: Uint8Array): boolean =>
  holds(suite, holder, () => challenge, signature)

/**
 * What the member has after sending its join (section 6.5): the 32 bytes of the challenge, or why there is none. `ended`
 * says that the edge closed its side; before that, fewer than 32 bytes are `Incomplete`.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Possession from "@catenet/crypto/admission/Possession"
 *
 * strictEqual(Result.getOrThrow(Possession.readChallenge(new Uint8Array(32), false)).length, 32)
 * strictEqual(Result.getOrThrow(Result.flip(Possession.readChallenge(Uint8Array.of(0x4e, 0x4f), true)))._tag, "Refused")
 * ```
 */
export const readChallenge = (
  received: Uint8Array,
  ended: boolean
): Result.Result<Uint8Array, Incomplete | Refused | Broken> => {
  if (received.length >= challengeLength) return Result.succeed(Bytes.copy(received, 0, challengeLength))
  if (!ended) return Result.fail(new Incomplete())
  if (received.length === 0) return Result.fail(new Refused({ token: undefined }))
  return Refusal.isRefusal(received)
    ? Result.fail(new Refused({ token: Refusal.tokenAfterNo(received.subarray(2)) }))
    : Result.fail(new Broken({ why: `the edge ended after ${received.length} bytes of its challenge`, retry: false }))
}
