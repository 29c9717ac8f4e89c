import type { Acknowledgement } from "@catenet/crypto/admission/Acknowledgement"
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import { makeChannel, type Member } from "@catenet/testing/agent/Member"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { ofAcknowledgement } from "../../src/channel/session/Peer.ts"
import type { Role } from "../../src/settings/MemberVariables.ts"

const channel = makeChannel()
const own = channel.member("initiate")
const other = channel.member("accept")
const both = channel.member("both")

const keysOf = ({ attestation, holder, noiseKey }: Member) => ({ attestation, holder, noiseKey })
const said = (more: Partial<Acknowledgement> = {}): Acknowledgement => ({
  peerEndpoint: "relay-only",
  peerKeys: keysOf(other),
  observed: "192.0.2.1:5",
  samePublicIp: false,
  ...more
})
const judge = (
  ack: Acknowledgement,
  {
    configured,
    expected,
    member = own,
    role = "initiate"
  }: { configured?: Uint8Array; expected?: Uint8Array; member?: Member; role?: Role } = {}
) =>
  ofAcknowledgement(native, ack, {
    grant: Result.getOrThrow(Grant.fromHex(member.grant)),
    role,
    configured,
    expected
  })
const why = (ack: Acknowledgement, options?: Parameters<typeof judge>[1]) =>
  Result.getOrThrow(Result.flip(judge(ack, options))).message

describe("the peer of an acknowledgement", () => {
  it("is known by its attested key", () => {
    const peer = Result.getOrThrow(judge(said()))
    assert.deepStrictEqual(peer.noiseKey, other.noiseKey)
    assert.deepStrictEqual(peer.holder, other.holder)
  })

  it("is refused with an attestation of another channel, holder or key, or none", () => {
    const elsewhere = makeChannel().member("accept")
    assert.include(why(said({ peerKeys: keysOf(elsewhere) })), "does not verify")
    assert.include(why(said({ peerKeys: { ...keysOf(other), holder: both.holder } })), "does not verify")
    assert.include(why(said({ peerKeys: { ...keysOf(other), noiseKey: both.noiseKey } })), "does not verify")
    assert.include(why(said({ peerKeys: undefined })), "names no Noise key")
  })

  it("must be the holder that is expected, where one is", () => {
    assert.isTrue(Result.isSuccess(judge(said(), { expected: other.holder })))
    assert.include(why(said(), { expected: both.holder }), "names another holder")
    const nameless = { expected: other.holder, configured: other.noiseKey }
    assert.include(why(said({ peerKeys: undefined }), nameless), "names another holder")
  })

  it("is refused when it is this member itself", () => {
    assert.include(why(said({ peerKeys: keysOf(own) })), "this member itself")
  })

  it("must have the configured key, which also stands in for a missing one", () => {
    assert.isTrue(Result.isSuccess(judge(said(), { configured: other.noiseKey })))
    assert.include(why(said(), { configured: both.noiseKey }), "CT_CHANNEL_PEER_NOISE_KEY")
    const peer = Result.getOrThrow(judge(said({ peerKeys: undefined }), { configured: other.noiseKey }))
    assert.deepStrictEqual([peer.noiseKey, peer.holder], [other.noiseKey, undefined])
  })

  it("begins or is begun with by the grant; where the grant permits both, as the edge says, else by the own role", () => {
    const initiates = (ack: Acknowledgement, member: Member, role: Role) =>
      Result.getOrThrow(judge(ack, { member, role })).isInitiator
    for (const role of ["initiate", "accept"] as const) {
      assert.isTrue(initiates(said({ role }), own, "initiate"))
      assert.strictEqual(initiates(said(), both, role), role === "initiate")
      assert.isTrue(initiates(said({ role: "initiate" }), both, role))
      assert.isFalse(initiates(said({ role: "accept" }), both, role))
    }
    assert.isFalse(
      Result.getOrThrow(judge(said({ peerKeys: keysOf(own) }), { member: other, role: "accept" })).isInitiator
    )
  })
})
