import * as Coordinate from "@catenet/crypto/admission/Coordinate"
import * as Staple from "@catenet/crypto/admission/Staple"
import * as Credential from "@catenet/crypto/Credential"
import * as Acceptance from "@catenet/crypto/market/Acceptance"
import * as BillingCommitment from "@catenet/crypto/market/BillingCommitment"
import * as SettleReceipt from "@catenet/crypto/market/SettleReceipt"
import * as UsageReceipt from "@catenet/crypto/market/UsageReceipt"
import type { Suite } from "@catenet/crypto/Suite"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { bytes, outcome, type Runners, sameHex, secret } from "./runner.ts"

const usage = (input: any, provider: Uint8Array, consumer: Uint8Array): UsageReceipt.Facts => ({
  provider,
  consumer,
  kind: input.kind,
  model: input.model,
  units: BigInt(input.units_consumed),
  matchRef: bytes(input.match_ref),
  issuedAt: BigInt(input.issued_at),
  requestHash: bytes(input.request_hash),
  responseHash: bytes(input.response_hash)
})

const staple = (input: any): Staple.Claims => ({
  channel: bytes(input.channel),
  holder: bytes(input.holder),
  stapledAt: BigInt(input.stapled_at),
  expiresAt: BigInt(input.expires_at)
})

const layouts: Readonly<Record<string, (input: any, suite: Suite) => Uint8Array>> = {
  "staple-layout": (input) => Staple.preimage(staple(input)),
  "billing-commitment-layout": (input) =>
    BillingCommitment.preimage({
      channel: bytes(input.channel),
      holder: bytes(input.holder),
      payee: bytes(input.payee),
      termsHash: bytes(input.terms_hash),
      maxAmount: BigInt(input.max_amount),
      expiresAt: BigInt(input.expires_at)
    }),
  "settle-receipt-layout": (input) =>
    SettleReceipt.preimage({
      channel: bytes(input.channel),
      receiver: bytes(input.receiver),
      termsHash: bytes(input.terms_hash),
      sessionNonce: bytes(input.session_nonce),
      bytesDelivered: BigInt(input.bytes_delivered),
      transferDigest: bytes(input.transfer_digest)
    }),
  "usage-receipt-layout": (input) => UsageReceipt.preimage(usage(input, bytes(input.provider), bytes(input.consumer))),
  "acceptance-layout": (input, suite) =>
    Acceptance.preimage({
      accepter: bytes(input.accepter),
      proposer: bytes(input.proposer),
      decision: input.decision,
      proposalHash: Acceptance.hashProposal(suite, input.proposal),
      requiresResponseBy: BigInt(input.requires_response_by)
    })
}

export const records: Runners = {
  bytes: ({ id, input, expect }, suite) => {
    const layout = layouts[id]
    assert.isDefined(layout)
    sameHex(layout?.(input, suite) ?? new Uint8Array(0), expect.bytes)
    if (expect.proposal_hash !== undefined) {
      sameHex(Acceptance.hashProposal(suite, input.proposal), expect.proposal_hash)
    }
  },
  staple: ({ input, expect }, suite) => {
    const signed = Staple.sign(suite, secret(input.operator_seed), staple(input))
    sameHex(Staple.encode(signed), expect.wire)
    assert.strictEqual(Staple.encode(signed).length, expect.length)
    const read = Result.getOrThrow(Staple.decode(bytes(expect.wire)))
    assert.deepStrictEqual(read, signed)
    assert.strictEqual(Staple.verify(suite, read, bytes(input.operator_pubkey), 1999), expect.valid_at_1999)
    assert.strictEqual(Staple.verify(suite, read, bytes(input.operator_pubkey), 2000), expect.valid_at_2000)
  },
  "usage-receipt": ({ input, expect }, suite) => {
    const [provider, consumer] = [secret(input.provider_seed), secret(input.consumer_seed)]
    const keys = [bytes(input.provider_seed), bytes(input.consumer_seed)].map(suite.ed25519.publicKey)
    const facts = usage(input, keys[0] ?? new Uint8Array(0), keys[1] ?? new Uint8Array(0))
    sameHex(UsageReceipt.preimage(facts), expect.signed_bytes)
    const receipt = {
      ...facts,
      providerSignature: UsageReceipt.sign(suite, provider, facts),
      consumerSignature: UsageReceipt.sign(suite, consumer, facts)
    }
    sameHex(UsageReceipt.encode(receipt), expect.wire)
    assert.deepStrictEqual(UsageReceipt.decode(bytes(expect.wire)), Result.succeed(receipt))
    assert.isTrue(UsageReceipt.verify(suite, receipt))
    assert.isFalse(UsageReceipt.verify(suite, { ...receipt, consumerSignature: receipt.providerSignature }))
  },
  acceptance: ({ input, expect }, suite) => {
    const signed = Acceptance.sign(suite, secret(input.accepter_seed), {
      proposer: bytes(input.proposer),
      decision: input.decision,
      proposalHash: Acceptance.hashProposal(suite, input.proposal),
      requiresResponseBy: BigInt(input.requires_response_by)
    })
    assert.strictEqual(Acceptance.json.write(signed), expect.json)
    assert.deepStrictEqual(Acceptance.json.fromJson(expect.record), Result.succeed(signed))
    assert.isTrue(Acceptance.verify(suite, signed))
  },
  credential: ({ input, expect }, suite) => {
    const claims = { tenant: input.tenant, agent: input.agent, expiresAt: BigInt(input.expires_at) }
    sameHex(Credential.preimage(claims), expect.signed_bytes)
    const signed = Credential.sign(suite, secret(input.issuer_seed), claims)
    sameHex(Credential.encode(signed), expect.wire)
    const read = Result.getOrThrow(Credential.decode(bytes(expect.wire)))
    const at = (now: number) => outcome(Credential.verify(suite, read, bytes(input.issuer), now))
    assert.strictEqual(at(999) === "ok", expect.valid_at_999)
    assert.strictEqual(at(1000), expect.at_1000)
  },
  "dht-coordinate": ({ input, expect }, suite) => {
    const [channel, coordinates] = [bytes(input.channel), bytes(input.coordinates)]
    const record = Coordinate.sign(suite, secret(input.holder_seed), channel, coordinates)
    sameHex(Coordinate.preimage(channel, record), expect.signed_bytes)
    sameHex(Coordinate.encode(record), expect.wire)
    const read = Result.getOrThrow(Coordinate.decode(bytes(expect.wire)))
    assert.isTrue(Coordinate.verify(suite, channel, read))
  }
}
