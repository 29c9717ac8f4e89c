/** Signatures beside their facts: a turned bit in any field or in the signature is refused. */
import * as Possession from "@catenet/crypto/admission/Possession"
import * as ClaimProof from "@catenet/crypto/ClaimProof"
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Enrollment from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import * as OperatorProof from "@catenet/crypto/OperatorProof"
import * as PlacementProof from "@catenet/crypto/PlacementProof"
import { portable } from "@catenet/crypto/portable"
import * as Redemption from "@catenet/crypto/Redemption"
import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Redacted } from "effect"
import * as any from "../arbitraries.ts"
import { flipped, runs } from "../suite/arbitraries.ts"

const { key } = any
const seed = Redacted.make(new Uint8Array(32).fill(7))
const signer = native.ed25519.publicKey(Redacted.value(seed))

/** A signature beside its facts. `facts` are bytes that the signature covers, each field on its own. */
const detachedSuite = (
  name: string,
  fields: Readonly<Record<string, Arbitrary.Arbitrary<Uint8Array>>>,
  sign: (fields: any.Fields) => Uint8Array,
  verify: (fields: any.Fields, signature: Uint8Array) => boolean
) =>
  it.prop(
    `${name} with any bit turned is refused`,
    { fields: Arbitrary.all(fields), bit: any.integer(0, 4000), which: any.integer(0, 10) },
    ({ fields, bit, which }) => {
      const signature = sign(fields)
      assert.isTrue(verify(fields, signature))
      assert.isFalse(verify(fields, flipped(signature, bit)))
      const name = Object.keys(fields)[which % Object.keys(fields).length] ?? ""
      const changed = fields[name] ?? new Uint8Array(0)
      assert.isFalse(verify({ ...fields, [name]: flipped(changed, bit) }, signature))
      assert.isFalse(verify({ ...fields, [name]: changed.subarray(1) }, signature))
    },
    runs
  )

describe("detached signatures", () => {
  const none = new Uint8Array(0)
  const ascii = Arbitrary.map(any.bytes(12), (bytes) => bytes.map((byte) => 0x40 + (byte & 31)))
  const latin = (bytes: Uint8Array | undefined) => String.fromCharCode(...(bytes ?? none))

  detachedSuite(
    "a Noise attestation",
    { channel: key, noiseKey: key },
    ({ channel = none, noiseKey = none }) => NoiseAttestation.sign(native, seed, { channel, noiseKey }),
    ({ channel = none, noiseKey = none }, signature) =>
      NoiseAttestation.verify(native, { channel, noiseKey, holder: signer }, signature)
  )
  detachedSuite(
    "a redemption with challenge",
    { channel: key, holder: key, challenge: key },
    ({ channel = none, holder = none, challenge = none }) =>
      Redemption.sign(native, seed, { channel, holder, challenge, invitee: signer }),
    ({ channel = none, holder = none, challenge = none }, signature) =>
      Redemption.verify(native, { channel, holder, challenge, invitee: signer }, signature)
  )
  detachedSuite(
    "a redemption without challenge",
    { channel: key, holder: key },
    ({ channel = none, holder = none }) => Redemption.sign(native, seed, { channel, holder, invitee: signer }),
    ({ channel = none, holder = none }, signature) =>
      Redemption.verify(native, { channel, holder, invitee: signer }, signature)
  )
  detachedSuite(
    "an enrollment proof",
    { token: key },
    ({ token = none }) => Enrollment.prove(native, seed, Redacted.make(token)),
    ({ token = none }, signature) => Enrollment.verify(native, signer, Redacted.make(token), signature)
  )
  detachedSuite(
    "a possession proof",
    { challenge: key },
    ({ challenge = none }) => Possession.prove(native, seed, challenge),
    ({ challenge = none }, signature) => Possession.verify(native, signer, challenge, signature)
  )
  detachedSuite(
    "an operator binding",
    { topologyId: ascii },
    ({ topologyId }) => OperatorBinding.sign(native, seed, { topologyId: latin(topologyId) }),
    ({ topologyId }, signature) =>
      OperatorBinding.verify(native, { topologyId: latin(topologyId), operator: signer }, signature)
  )
  detachedSuite(
    "a proof of a claim",
    { channel: key, subject: ascii },
    ({ channel = none, subject }) => ClaimProof.sign(native, seed, { channel, subject: latin(subject) }),
    ({ channel = none, subject }, signature) =>
      ClaimProof.verify(native, { channel, holder: signer, subject: latin(subject) }, signature)
  )
  detachedSuite(
    "a proof of placement",
    { topologyId: ascii, subject: ascii },
    ({ subject, topologyId }) =>
      PlacementProof.sign(native, seed, { topologyId: latin(topologyId), subject: latin(subject) }),
    ({ subject, topologyId }, signature) =>
      PlacementProof.verify(
        native,
        { topologyId: latin(topologyId), subject: latin(subject), holder: signer },
        signature
      )
  )
  it("a proof of placement is signed over its domain, the topology, the account and the agent", () => {
    const place = { topologyId: "ü", subject: "ada" }
    const bytes = PlacementProof.preimage({ ...place, holder: signer })
    const written =
      "\x18\0\0\0ct-topology-placement-v1\x02\0\0\0\0\0\0\0\xc3\xbc\x03\0\0\0\0\0\0\0ada" +
      Buffer.from(signer).toString("latin1")
    assert.strictEqual(Buffer.from(bytes).toString("latin1"), written)
    const golden =
      "5aed61e12a85aced4bd30659f1136435d233f6903d4e1a5d370917dc54f605b1" +
      "ee0d1686738900cd628ba1913fc95c289353fc2d389f7ef5d2518a87b0037303"
    for (const suite of [native, portable]) {
      assert.strictEqual(Hex.encode(PlacementProof.sign(suite, seed, place)), golden)
    }
  })
  it("a proof of placement cannot lend a byte of the topology to the account", () => {
    const proof = PlacementProof.sign(native, seed, { topologyId: "ab", subject: "c" })
    assert.isFalse(PlacementProof.verify(native, { topologyId: "a", subject: "bc", holder: signer }, proof))
  })
  detachedSuite(
    "a proof of an operator's account",
    { subject: ascii },
    ({ subject }) => OperatorProof.sign(native, seed, { subject: latin(subject) }),
    ({ subject }, signature) => OperatorProof.verify(native, { operator: signer, subject: latin(subject) }, signature)
  )
  it("a proof of an operator's account is the same by both suites", () => {
    const proof = OperatorProof.sign(native, seed, { subject: "ada" })
    assert.strictEqual(Hex.encode(OperatorProof.sign(portable, seed, { subject: "ada" })), Hex.encode(proof))
    assert.isFalse(OperatorProof.verify(native, { operator: signer, subject: "adb" }, proof))
  })
  detachedSuite(
    "a heartbeat",
    { id: ascii, peerAddress: ascii },
    ({ id, peerAddress }) => EdgeHeartbeat.sign(native, seed, { id: latin(id), peerAddress: latin(peerAddress) }),
    ({ id, peerAddress }, signature) =>
      EdgeHeartbeat.verify(native, signer, { id: latin(id), peerAddress: latin(peerAddress) }, signature)
  )
  detachedSuite(
    "a release manifest",
    { file: any.bytes(60) },
    ({ file = none }) => new TextEncoder().encode(ReleaseManifest.sign(native, seed, file)),
    ({ file = none }, signature) => ReleaseManifest.isSignedBy(native, [signer], file, latin(signature))
  )
  it("a heartbeat is signed over its domain, the length of the id, the id and the address", () => {
    const bytes = EdgeHeartbeat.preimage({ id: "ü", peerAddress: "b:1" })
    const written = "ct-edge-mesh-heartbeat-v1\x02\0\0\0\0\0\0\0\xc3\xbcb:1"
    assert.strictEqual(Buffer.from(bytes).toString("latin1"), written)
  })
})
