/**
 * The invitee's signature that redeems an invitation for a holder key (sections 5.3 and 5.4), with the server's challenge
 * or, in the older form, without. Our clients always use the challenge: a replay of the other form is stopped only by the
 * single-use table.
 */
import { Redacted } from "effect"
import * as Preimage from "./Preimage.ts"
import { holds } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** Who redeems which channel's invitation for which holder; 32 bytes each. */
export interface Redemption {
  readonly channel: Uint8Array
  readonly invitee: Uint8Array
  readonly holder: Uint8Array
  readonly challenge?: Uint8Array | undefined
}

/**
 * The signed bytes: 120 without a challenge, 157 with one.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Redemption from "@catenet/crypto/Redemption"
 *
 * const key = new Uint8Array(32)
 * strictEqual(Redemption.preimage({ channel: key, invitee: key, holder: key }).length, 120)
 * strictEqual(Redemption.preimage({ channel: key, invitee: key, holder: key, challenge: key }).length, 157)
 * ```
 */
export const preimage = ({ channel, invitee, holder, challenge }: Redemption): Uint8Array => {
  const fields = [channel, invitee, holder].map(Preimage.fixed32)
  return challenge === undefined
    ? Preimage.raw("ct-chan-invite-redeem-v1", ...fields)
    : Preimage.raw("ct-chan-invite-redeem-v2-chal", ...fields, Preimage.fixed32(challenge))
}

/**
 * The 64-byte signature, made with the invitee's identity seed.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Redemption from "@catenet/crypto/Redemption"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x11))
 * const key = new Uint8Array(32)
 * const invitee = portable.ed25519.publicKey(Redacted.value(seed))
 * const redemption = { channel: key, invitee, holder: key, challenge: new Uint8Array(32).fill(0x77) }
 * ok(Redemption.verify(portable, redemption, Redemption.sign(portable, seed, redemption)))
 * ```
 */
export const sign = (suite: Suite, inviteeSeed: Redacted.Redacted<Uint8Array>, redemption: Redemption): Uint8Array =>
  suite.ed25519.sign(Redacted.value(inviteeSeed), preimage(redemption))

/**
 * Whether the invitee signed this redemption, in exactly the form given: a signature without challenge does not pass
 * where a challenge is named, nor the other way round.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Redemption from "@catenet/crypto/Redemption"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const key = new Uint8Array(32)
 * ok(!Redemption.verify(portable, { channel: key, invitee: key, holder: key }, new Uint8Array(64).fill(1)))
 * ```
 */
export const verify = (suite: Suite, redemption: Redemption, signature: Uint8Array): boolean =>
  holds(suite, redemption.invitee, () => preimage(redemption), signature)
