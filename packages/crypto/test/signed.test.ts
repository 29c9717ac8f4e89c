/**
 * Every signed record: it verifies as signed; with any one bit turned, in its bytes or its fields, it does not; and no
 * lengths or texts make a verification throw.
 */
import * as Coordinate from "@catenet/crypto/admission/Coordinate"
import * as Possession from "@catenet/crypto/admission/Possession"
import * as Staple from "@catenet/crypto/admission/Staple"
import * as AgentCard from "@catenet/crypto/AgentCard"
import * as Credential from "@catenet/crypto/Credential"
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Enrolment from "@catenet/crypto/Enrolment"
import * as Grant from "@catenet/crypto/Grant"
import * as Invitation from "@catenet/crypto/Invitation"
import type { JsonForm } from "@catenet/crypto/JsonField"
import * as CompositionManifest from "@catenet/crypto/manifest/CompositionManifest"
import * as ServiceManifest from "@catenet/crypto/manifest/ServiceManifest"
import * as Acceptance from "@catenet/crypto/market/Acceptance"
import * as Bid from "@catenet/crypto/market/Bid"
import * as Offer from "@catenet/crypto/market/Offer"
import * as UsageReceipt from "@catenet/crypto/market/UsageReceipt"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import * as Redemption from "@catenet/crypto/Redemption"
import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
import * as Hold from "@catenet/crypto/settlement/Hold"
import * as Transfer from "@catenet/crypto/settlement/Transfer"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Redacted, Result } from "effect"
import * as any from "./arbitraries.ts"
import { flipped, runs } from "./suite/arbitraries.ts"

const { key, text, u64 } = any
const seed = Redacted.make(new Uint8Array(32).fill(7))
const signer = native.ed25519.publicKey(Redacted.value(seed))
const live = Arbitrary.map(u64, (expiresAt) => (expiresAt === 0n ? 1n : expiresAt))

/** A record whose wire form carries the signature. `holds` decodes and verifies. */
const wireSuite = <A>(
  name: string,
  values: Arbitrary.Arbitrary<A>,
  sign: (value: A) => Uint8Array,
  holds: (wire: Uint8Array) => boolean
) =>
  it.prop(
    `${name} with any bit turned is refused`,
    { value: values, bit: any.integer(0, 40_000) },
    ({ value, bit }) => {
      const wire = sign(value)
      assert.isTrue(holds(wire))
      assert.isFalse(holds(flipped(wire, bit)))
    },
    runs
  )

const decoded =
  <A>(decode: (bytes: Uint8Array) => Result.Result<A, unknown>, verify: (value: A) => boolean) =>
  (wire: Uint8Array) =>
    Result.match(decode(wire), { onSuccess: verify, onFailure: () => false })

describe("wire records", () => {
  wireSuite(
    "a grant",
    Arbitrary.all({ channel: key, holder: key, ...any.permission, expiresAt: live }),
    (claims) => Grant.encode(Grant.sign(native, seed, claims)),
    decoded(Grant.decode, (grant) => Result.isSuccess(Grant.verify(native, grant, signer, 0)))
  )
  wireSuite(
    "an invitation",
    Arbitrary.all({ channel: key, invitee: key, ...any.permission, expiresAt: live }),
    (claims) => Invitation.encode(Invitation.sign(native, seed, claims)),
    decoded(Invitation.decode, (invitation) => Result.isSuccess(Invitation.verify(native, invitation, signer, 0)))
  )
  wireSuite(
    "a staple",
    Arbitrary.all({ channel: key, holder: key, stapledAt: u64, expiresAt: live }),
    (claims) => Staple.encode(Staple.sign(native, seed, claims)),
    decoded(Staple.decode, (staple) => Staple.verify(native, staple, signer, 0))
  )
  wireSuite(
    "a coordinate record",
    any.anyBytes(20),
    (coordinates) => Coordinate.encode(Coordinate.sign(native, seed, signer, coordinates)),
    decoded(Coordinate.decode, (record) => Coordinate.verify(native, signer, record))
  )
  wireSuite(
    "a credential",
    Arbitrary.all({ tenant: text, agent: text, expiresAt: live }),
    (claims) => Credential.encode(Credential.sign(native, seed, claims)),
    decoded(Credential.decode, (credential) => Result.isSuccess(Credential.verify(native, credential, signer, 0)))
  )
  wireSuite(
    "a usage receipt",
    Arbitrary.all(any.usageFacts),
    (facts) => {
      const receipt = { ...facts, provider: signer, consumer: signer }
      const signature = UsageReceipt.sign(native, seed, receipt)
      return UsageReceipt.encode({ ...receipt, providerSignature: signature, consumerSignature: signature })
    },
    decoded(UsageReceipt.decode, (receipt) => UsageReceipt.verify(native, receipt))
  )
  wireSuite(
    "a transfer",
    Arbitrary.all({ to: key, amount: u64, nonce: u64 }),
    (order) => Transfer.encode(Transfer.sign(native, seed, order)),
    decoded(Transfer.decode, (transfer) => Transfer.verify(native, transfer))
  )
  wireSuite(
    "a hold",
    Arbitrary.all({ to: key, amount: u64, matchRef: key, nonce: u64, expiresAt: u64 }),
    (order) => Hold.encode(Hold.sign(native, seed, order)),
    decoded(Hold.decode, (hold) => Hold.verify(native, hold))
  )
})

/** A record that travels as JSON. A turned bit may only change how the same record is written. */
const jsonSuite = <A extends object, U>(
  name: string,
  values: Arbitrary.Arbitrary<U>,
  sign: (value: U) => A,
  { parse, write }: JsonForm<A>,
  verify: (record: A) => boolean
) => {
  it.prop(
    `${name} survives its JSON`,
    { value: values },
    ({ value }) => {
      const signed = sign(value)
      const read = Result.getOrThrow(parse(write(signed)))
      assert.deepStrictEqual(read, signed)
      assert.strictEqual(write(read), write(signed))
      assert.isTrue(verify(read))
    },
    runs
  )
  it.prop(
    `${name} with any bit turned is refused, or is the same record`,
    { value: values, bit: any.integer(0, 40_000) },
    ({ value, bit }) => {
      const written = new TextEncoder().encode(write(sign(value)))
      const damaged = parse(new TextDecoder().decode(flipped(written, bit)))
      if (Result.isFailure(damaged) || !verify(damaged.success)) return
      assert.strictEqual(write(damaged.success), new TextDecoder().decode(written))
    },
    runs
  )
  it.prop(
    `${name}: no text makes the reader throw`,
    { value: values, cut: any.integer(0, 4000), noise: text },
    ({ value, cut, noise }) => {
      const written = write(sign(value))
      assert.isTrue(Result.isFailure(parse(written.slice(0, cut % written.length))))
      parse(written.slice(0, cut % written.length) + noise + written.slice(cut % written.length))
      parse(noise)
    },
    runs
  )
}

describe("JSON records", () => {
  const alive = <A extends { readonly expiresAt: bigint }>(values: Arbitrary.Arbitrary<A>) =>
    Arbitrary.map(values, (value) => ({ ...value, expiresAt: value.expiresAt === 0n ? 1n : value.expiresAt }))
  jsonSuite(
    "an agent card",
    alive(any.cardClaims),
    (claims) => AgentCard.sign(native, seed, claims),
    AgentCard.json,
    (card) => AgentCard.verify(native, card, 0)
  )
  jsonSuite(
    "an offer",
    alive(any.offerTerms),
    (terms) => Offer.sign(native, seed, terms),
    Offer.json,
    (offer) => Offer.verify(native, offer, 0)
  )
  jsonSuite(
    "a bid",
    alive(any.bidTerms),
    (terms) => Bid.sign(native, seed, terms),
    Bid.json,
    (bid) => Bid.verify(native, bid, 0)
  )
  jsonSuite(
    "an acceptance",
    Arbitrary.all({
      proposer: key,
      decision: any.oneOf(["accept", "reject", "counter"]),
      proposalHash: key,
      requiresResponseBy: u64
    }),
    (answer) => Acceptance.sign(native, seed, answer),
    Acceptance.json,
    (answer) => Acceptance.verify(native, answer)
  )
  jsonSuite(
    "a service manifest",
    alive(any.manifest),
    (manifest) => ServiceManifest.sign(native, seed, manifest),
    ServiceManifest.json,
    (manifest) => ServiceManifest.verify(native, manifest, 0)
  )
  jsonSuite(
    "a composition",
    alive(any.composition),
    (composition) => CompositionManifest.sign(native, seed, composition),
    CompositionManifest.json,
    (composition) => CompositionManifest.verify(native, composition, 0)
  )
})

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
    "an enrolment proof",
    { token: key },
    ({ token = none }) => Enrolment.prove(native, seed, Redacted.make(token)),
    ({ token = none }, signature) => Enrolment.verify(native, signer, Redacted.make(token), signature)
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
    ({ topologyId }) => OperatorBinding.sign(native, seed, latin(topologyId)),
    ({ topologyId }, signature) =>
      OperatorBinding.verify(native, { topologyId: latin(topologyId), operator: signer }, signature)
  )
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
})

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
    const claims = { tenant: "t", agent: "a", expiresAt: 1000n }
    const credential = Credential.sign(native, seed, claims)
    const tag = (issuer: Uint8Array, now: number, of = credential) =>
      Result.match(Credential.verify(native, of, issuer, now), {
        onSuccess: () => "ok",
        onFailure: (error) => error._tag as string
      })
    const notAPoint = Uint8Array.of(2, ...new Uint8Array(31))
    assert.strictEqual(tag(signer, 999), "ok")
    assert.strictEqual(tag(signer, 1000), "Expired")
    assert.strictEqual(tag(notAPoint, 1000), "BadKey")
    assert.strictEqual(tag(signer, 1000, { ...credential, tenant: "u" }), "BadSignature")
    assert.strictEqual(tag(signer, Number.NaN), "Expired")
  })
})
