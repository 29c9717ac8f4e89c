import * as Acknowledgement from "@catenet/crypto/admission/Acknowledgement"
import * as Address from "@catenet/crypto/admission/Address"
import * as Join from "@catenet/crypto/admission/Join"
import * as Possession from "@catenet/crypto/admission/Possession"
import * as Refusal from "@catenet/crypto/admission/Refusal"
import * as RelayGate from "@catenet/crypto/admission/RelayGate"
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import * as Integer from "@catenet/crypto/Integer"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import * as NetAddress from "effect/net/NetAddress"
import * as Reachability from "../records/Reachability.ts"
import { bytes, outcome, type Runners, sameHex, secret } from "./runner.ts"

const grantOf = (input: any, suite: Parameters<typeof Grant.sign>[0]): Grant.Grant =>
  input.grant !== undefined
    ? Result.getOrThrow(Grant.fromHex(input.grant))
    : Grant.sign(suite, secret(input.operator_seed), {
        channel: bytes(input.channel),
        holder: suite.ed25519.publicKey(bytes(input.holder_seed)),
        direction: input.direction,
        rights: input.rights,
        delegable: input.delegable,
        expiresAt: BigInt(input.expires_at)
      })

const hexOrNull = (key: Uint8Array | undefined) => (key === undefined ? null : Hex.encode(key))

const ack = (stream: Uint8Array) =>
  Result.match(Acknowledgement.read(stream, true), {
    onSuccess: ({ acknowledgement, length }): unknown => {
      assert.strictEqual(length, stream.length)
      const { peerEndpoint, peerKeys, observed } = acknowledgement
      return {
        outcome: "admitted",
        peer_endpoint: peerEndpoint,
        peer_noise: hexOrNull(peerKeys?.noiseKey),
        peer_holder: hexOrNull(peerKeys?.holder),
        peer_attestation: hexOrNull(peerKeys?.attestation),
        observed: observed ?? null
      }
    },
    onFailure: (error) => {
      if (error._tag === "Refused") return { outcome: "refused", token: error.token ?? null }
      if (error._tag === "ParkExpired") return { outcome: "park-expired" }
      if (error._tag === "Broken") return { outcome: "error", retry: error.retry }
      return { outcome: error._tag }
    }
  })

const ips = (pair: ReadonlyArray<string>) => pair.map(NetAddress.ipFromStringUnsafe)

const members = (input: any) =>
  input.members.map((member: any) => ({ holder: bytes(member.holder), reachability: member.class }))

export const admission: Runners = {
  "join-frame": ({ input, expect }, suite) => {
    const grant = grantOf(input, suite)
    if (expect.grant !== undefined) assert.strictEqual(Grant.toHex(grant), expect.grant)
    const join = { grant, endpoint: input.endpoint, phase: input.phase ?? undefined }
    const frame = Join.encode(join)
    sameHex(frame, expect.frame)
    if (expect.body_length !== undefined) assert.strictEqual(Join.encodeBody(join).length, expect.body_length)
    assert.strictEqual(join.endpoint === Address.relayOnly, expect.relay_only ?? false)
    assert.deepStrictEqual(Join.read(frame), Result.succeed({ join, length: frame.length }))
  },
  "decode-join-body": ({ input, expect }) =>
    assert.strictEqual(outcome(Join.decodeBody(bytes(input.body))), expect.result),
  table: ({ id, expect }) => {
    if (id === "length-bounds") {
      for (const length of expect.refused_lengths) {
        const refused = Result.getOrThrow(Result.flip(Join.read(Integer.u16be(length))))
        assert.strictEqual("token" in refused ? refused.token : undefined, expect.refused_token)
        assert.isFalse(Join.isLengthAllowed(length))
      }
      for (const length of expect.accepted_lengths) assert.isTrue(Join.isLengthAllowed(length))
    } else {
      for (const [a, b] of expect.attempt) assert.isTrue(Reachability.attemptsDirect(a, b))
      for (const [a, b] of expect.stay) assert.isFalse(Reachability.attemptsDirect(a, b))
    }
  },
  possession: ({ input, expect }, suite) => {
    const signature = Possession.prove(suite, secret(input.holder_seed), bytes(input.challenge))
    sameHex(signature, expect.signature)
    assert.strictEqual(Possession.verify(suite, bytes(input.holder), bytes(input.challenge), signature), expect.valid)
  },
  "possession-verify": ({ input, expect }, suite) =>
    assert.strictEqual(
      Possession.verify(suite, bytes(input.holder), bytes(input.challenge), bytes(input.signature)),
      expect.valid
    ),
  "refusal-frame": ({ input, expect }) => {
    const frame = Refusal.encode(input.token)
    sameHex(frame, expect.frame)
    assert.strictEqual(frame.length, expect.length)
    assert.strictEqual(frame.length < Possession.challengeLength, expect.below_32)
    assert.deepStrictEqual(ack(frame), { outcome: "refused", token: input.token })
  },
  "decode-refusal-after-NO": ({ input, expect }) =>
    assert.strictEqual(Refusal.tokenAfterNo(bytes(input.rest)) ?? null, expect.token),
  ack: ({ input, expect }) => assert.deepStrictEqual(ack(bytes(input.stream)), expect),
  "pre-challenge": ({ input, expect }) => {
    const read = Possession.readChallenge(bytes(input.stream_until_fin), true)
    const seen = Result.match(read, {
      onSuccess: (): unknown => ({ outcome: "challenge" }),
      onFailure: (error) =>
        error._tag === "Refused" ? { outcome: "refused", token: error.token ?? null } : { outcome: "error" }
    })
    assert.deepStrictEqual(seen, expect)
  },
  "global-unicast": ({ expect }) => {
    for (const endpoint of expect.yes) assert.isTrue(Address.isGlobalEndpoint(endpoint), endpoint)
    for (const endpoint of expect.no) assert.isFalse(Address.isGlobalEndpoint(endpoint), endpoint)
  },
  reachability: ({ input, expect }) =>
    assert.strictEqual(Reachability.classify(input.advertised, input.reflexive), expect.class),
  "super-peers": ({ input, expect }) =>
    assert.deepStrictEqual(
      Reachability.electSuperPeers(members(input), input.veto.map(bytes), input.count).map(Hex.encode),
      expect.elected
    ),
  "same-local-subnet": ({ expect }) => {
    for (const [own, candidate] of expect.yes.map(ips)) assert.isTrue(Address.sameLocalSubnet(own, candidate))
    for (const [own, candidate] of expect.no.map(ips)) assert.isFalse(Address.sameLocalSubnet(own, candidate))
  },
  "relay-gate": ({ input, expect }, suite) => {
    const grant = Result.getOrThrow(Grant.fromHex(input.grant))
    sameHex(Grant.encode(grant), expect.client_first)
    const seed = secret("41".repeat(32))
    sameHex(Possession.prove(suite, seed, bytes(input.challenge)), expect.client_second)
    const reply = RelayGate.encodeReply(input.relay_node)
    sameHex(reply, expect.edge_reply)
    assert.deepStrictEqual(
      RelayGate.readReply(reply, false),
      Result.succeed({ relayNode: input.relay_node, length: reply.length })
    )
  }
}
