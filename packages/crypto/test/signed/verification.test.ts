/** No lengths, keys or texts make a verification throw; and the order of the checks. */
import * as Possession from "@catenet/crypto/admission/Possession"
import * as AgentCard from "@catenet/crypto/AgentCard"
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import * as Redemption from "@catenet/crypto/Redemption"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import * as any from "../arbitraries.ts"
import { runs } from "../suite/arbitraries.ts"

const seed = Redacted.make(new Uint8Array(32).fill(7))
const signer = native.ed25519.publicKey(Redacted.value(seed))

describe("verification", () => {
  it.prop(
    "answers for keys, signatures and texts of any form",
    { bytes: any.anyBytes(70), other: any.anyBytes(70), half: any.bool },
    ({ bytes, other, half }) => {
      const ill = half ? "\ud800" : "text"
      const at = { issuedAt: 0n, expiresAt: 9n }
      const listed = { roleTags: [ill], skills: [], cells: [bytes], channels: [other] }
      assert.isFalse(AgentCard.verify(native, { holder: bytes, ...listed, ...at, signature: other }, 0))
      assert.isFalse(NoiseAttestation.verify(native, { channel: bytes, holder: bytes, noiseKey: other }, other))
      assert.isFalse(OperatorBinding.verify(native, { topologyId: ill, operator: bytes }, other))
      assert.isFalse(EdgeHeartbeat.verify(native, bytes, { id: ill, peerAddress: ill }, other))
      assert.isFalse(Redemption.verify(native, { channel: bytes, invitee: bytes, holder: bytes }, other))
      assert.isFalse(Possession.verify(native, bytes, other, other))
      const permission = { direction: "both", rights: "rw", delegable: false, expiresAt: 9n } as const
      const grant = { channel: bytes, holder: other, ...permission, signature: other }
      assert.isTrue(Result.isFailure(Grant.verify(native, grant, bytes, 0)))
    },
    runs
  )

  it("tells a key that is no point from a signature that does not hold, and checks the expiry last", () => {
    const zeros = new Uint8Array(32)
    const permission = { direction: "both", rights: "rw", delegable: false, expiresAt: 1000n } as const
    const grant = Grant.sign(native, seed, { channel: zeros, holder: zeros, ...permission })
    const tag = (operator: Uint8Array, now: number, of = grant) =>
      Result.match(Grant.verify(native, of, operator, now), {
        onSuccess: () => "ok",
        onFailure: (error) => error._tag as string
      })
    const notAPoint = Uint8Array.of(2, ...new Uint8Array(31))
    assert.strictEqual(tag(signer, 999), "ok")
    assert.strictEqual(tag(signer, 1000), "Expired")
    assert.strictEqual(tag(notAPoint, 1000), "BadKey")
    assert.strictEqual(tag(signer, 1000, { ...grant, delegable: true }), "BadSignature")
    assert.strictEqual(tag(signer, Number.NaN), "Expired")
  })
})
