import * as Bytes from "@catenet/crypto/Bytes"
import * as Grant from "@catenet/crypto/Grant"
import * as Invitation from "@catenet/crypto/Invitation"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import * as Redemption from "@catenet/crypto/Redemption"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { bytes, outcome, type Runners, sameHex, secret } from "./runner.ts"

const redemption = (input: any): Redemption.Redemption => ({
  channel: bytes(input.channel),
  invitee: bytes(input.invitee_identity),
  holder: bytes(input.holder),
  challenge: typeof input.challenge === "string" ? bytes(input.challenge) : undefined
})

export const invitation: Runners = {
  invitation: ({ input, expect }, suite) => {
    sameHex(suite.ed25519.publicKey(bytes(input.invitee_seed)), input.invitee_identity)
    const signed = Invitation.sign(suite, secret(input.operator_seed), {
      channel: bytes(input.channel),
      invitee: bytes(input.invitee_identity),
      direction: input.direction,
      rights: input.rights,
      delegable: input.delegable,
      expiresAt: BigInt(input.expires_at)
    })
    assert.deepStrictEqual(Bytes.toText(Invitation.preimage(signed)), Result.succeed(expect.signed_text))
    sameHex(Invitation.encode(signed), expect.wire)
    assert.strictEqual(Invitation.encode(signed).length, expect.wire_length)
    assert.deepStrictEqual(Result.getOrThrow(Invitation.fromHex(Invitation.toHex(signed))), signed)
  },
  verify: ({ input, expect }, suite) => {
    assert.strictEqual(input.as, "invitation")
    const operator = bytes(input.operator_pubkey)
    const now = BigInt(input.now)
    const decoded = Result.getOrThrow(Invitation.fromHex(input.wire))
    assert.strictEqual(outcome(Invitation.verify(suite, decoded, operator, now)), expect.result)
    const asGrant = Grant.verify(suite, Result.getOrThrow(Grant.fromHex(input.wire)), operator, now)
    assert.strictEqual(outcome(asGrant), expect.result === "BadSignature" ? "ok" : "BadSignature")
  },
  redemption: ({ input, expect }, suite) => {
    const redeemed = redemption(input)
    sameHex(Redemption.preimage(redeemed), expect.bytes)
    assert.strictEqual(Redemption.preimage(redeemed).length, expect.length)
    const signature = Redemption.sign(suite, secret(input.invitee_seed), redeemed)
    sameHex(signature, expect.signature)
    assert.isTrue(Redemption.verify(suite, redeemed, signature))
  },
  "verify-redemption": ({ input, expect }, suite) =>
    assert.strictEqual(Redemption.verify(suite, redemption(input), bytes(input.signature)), expect.valid),
  "grant-claims": ({ input, expect }, suite) => {
    const invited = Result.getOrThrow(Invitation.fromHex(input.invitation))
    assert.isTrue(Result.isSuccess(Invitation.verify(suite, invited, bytes(input.operator_pubkey), BigInt(input.now))))
    const { channel, invitee } = invited
    const holder = bytes(input.holder)
    assert.isTrue(Redemption.verify(suite, { channel, invitee, holder }, bytes(input.redeem_sig)))
    assert.deepStrictEqual(Invitation.grantClaims(invited, holder), {
      channel: bytes(expect.channel),
      holder: bytes(expect.holder),
      direction: expect.direction,
      rights: expect.rights,
      delegable: expect.delegable,
      expiresAt: BigInt(expect.expires_at)
    })
  },
  "http-body": ({ input, expect: { body } }, suite) => {
    const invited = Result.getOrThrow(Invitation.fromHex(body.invitation))
    const [channel, holder] = [bytes(input.channel), bytes(body.holder)]
    assert.deepStrictEqual(invited.channel, channel)
    assert.isTrue(Result.isSuccess(Invitation.verify(suite, invited, bytes(input.operator_pubkey), BigInt(input.now))))
    assert.strictEqual(body.challenge, input.challenge)
    const redeemed = { channel, invitee: invited.invitee, holder, challenge: bytes(body.challenge) }
    assert.isTrue(Redemption.verify(suite, redeemed, bytes(body.redeem_sig)))
    const attested = { channel, holder, noiseKey: bytes(body.noise_pubkey) }
    assert.isTrue(NoiseAttestation.verify(suite, attested, bytes(body.noise_attestation)))
  }
}
