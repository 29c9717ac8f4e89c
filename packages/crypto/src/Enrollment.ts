/**
 * The proof with which an agent redeems a join token (section 11.2): its signature over exactly the 32 raw token bytes. The
 * agent's name is not signed.
 */
import { Redacted } from "effect"
import { holdsStrictly } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/**
 * The 64-byte proof for a join token of 32 raw bytes.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Enrollment from "@catenet/crypto/Enrollment"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x21))
 * const token = Redacted.make(new Uint8Array(32).fill(0x3c))
 * const proof = Enrollment.prove(portable, seed, token)
 * ok(Enrollment.verify(portable, portable.ed25519.publicKey(Redacted.value(seed)), token, proof))
 * ```
 */
export const prove = (
  suite: Suite,
  agentSeed: Redacted.Redacted<Uint8Array>,
  joinToken: Redacted.Redacted<Uint8Array>
): Uint8Array => suite.ed25519.sign(Redacted.value(agentSeed), Redacted.value(joinToken))

/**
 * Whether the agent key signed this token. Checked before the token is looked up.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Enrollment from "@catenet/crypto/Enrollment"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const token = Redacted.make(new Uint8Array(32))
 * ok(!Enrollment.verify(portable, new Uint8Array(32), token, new Uint8Array(64).fill(1)))
 * ```
 */
export const verify = (
  suite: Suite,
  agentKey: Uint8Array,
  joinToken: Redacted.Redacted<Uint8Array>,
  proof: Uint8Array
): boolean =>
  Redacted.value(joinToken).length === 32 && holdsStrictly(suite, agentKey, () => Redacted.value(joinToken), proof)
