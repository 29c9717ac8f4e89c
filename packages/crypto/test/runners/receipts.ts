import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import * as Json from "@catenet/crypto/Json"
import * as Export from "@catenet/crypto/receipt/Export"
import * as Receipt from "@catenet/crypto/receipt/Receipt"
import type * as Verification from "@catenet/crypto/receipt/Verification"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import * as TokenEncoding from "../../src/TokenEncoding.ts"
import { type Runners, sameHex, secret } from "./runner.ts"

const lossless = (value: unknown): any => Result.getOrThrow(Json.parse(JSON.stringify(value)))

const counted = ({ count, opened, closed, bytesIn, bytesOut }: Verification.Summary) => ({
  receipts: count,
  opened,
  closed,
  bytes_in: Number(bytesIn),
  bytes_out: Number(bytesOut)
})

export const receipts: Runners = {
  "canonical-json": ({ input, expect }) => {
    const text = Result.getOrThrow(Json.canonical(Result.getOrThrow(Json.parse(input.json))))
    assert.strictEqual(text, expect.canonical)
    if (expect.canonical_utf8 !== undefined) sameHex(Bytes.fromText(text), expect.canonical_utf8)
  },
  "receipt-chain": ({ input, expect }, suite) => {
    const seed = secret(input.seed)
    sameHex(suite.ed25519.publicKey(Result.getOrThrow(Hex.decode(input.seed))), expect.pubkey)
    const routingTokenHash = TokenEncoding.hash(suite, secret(input.routing_token))
    assert.strictEqual(routingTokenHash, expect.routing_token_hash)
    let tip = Receipt.genesis
    input.events.forEach(({ kind, ts, payload }: any, i: number) => {
      const event = { kind, payload: lossless(payload) }
      const chain = { edgeId: input.edge_id, routingTokenHash }
      const receipt = Result.getOrThrow(Receipt.append(suite, seed, chain, tip, BigInt(ts), event))
      const expected = expect.receipts[i]
      assert.deepStrictEqual(receipt, Result.getOrThrow(Receipt.json.fromJson(lossless(expected.receipt))))
      if (expected.line !== undefined) assert.strictEqual(Receipt.json.write(receipt), expected.line)
      tip = receipt
    })
  },
  "receipt-export": ({ input, expect }, suite) => {
    const exported = Result.getOrThrow(Export.parse(input.export))
    assert.deepStrictEqual(Result.getOrThrow(Export.parse(Export.write(exported))), exported)
    const verified = Export.verifyUnderOwnKey(suite, exported, input.anchor)
    assert.strictEqual(Result.isSuccess(verified), expect.ok)
    if (Result.isSuccess(verified)) {
      assert.deepStrictEqual(counted(verified.success), expect.summary)
      if (expect.from_genesis !== undefined) assert.strictEqual(verified.success.fromGenesis, expect.from_genesis)
      if (expect.first_seq !== undefined) assert.strictEqual(verified.success.first?.seq, BigInt(expect.first_seq))
      if (expect.first_prev_hash !== undefined) {
        assert.strictEqual(verified.success.first?.prevHash, expect.first_prev_hash)
      }
    } else if (expect.error === "unusable public key") {
      assert.strictEqual(verified.failure.reason, "BadPubkey")
    } else {
      const { reason, seq, expected, field } = verified.failure
      assert.deepStrictEqual(
        { reason, seq: Number(seq), expected: expected === undefined ? undefined : Number(expected), field },
        { reason: expect.error, seq: expect.seq, expected: expect.expected, field: expect.field }
      )
    }
  },
  "receipt-parse": ({ expect }) => {
    for (const { text, error, line } of expect.cases) {
      const refused = Result.getOrThrow(Result.flip(Export.parse(text)))
      assert.strictEqual(refused.reason, error)
      if (line !== undefined) assert.strictEqual(refused.line, line)
    }
  },
  "routing-token-hash": ({ input, expect }, suite) =>
    assert.strictEqual(TokenEncoding.hash(suite, secret(input.routing_token)), expect.routing_token_hash)
}
