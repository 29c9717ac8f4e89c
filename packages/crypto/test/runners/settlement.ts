import * as Block from "@catenet/crypto/settlement/Block"
import * as Election from "@catenet/crypto/settlement/Election"
import * as Hold from "@catenet/crypto/settlement/Hold"
import { decode, encode } from "@catenet/crypto/settlement/Operation"
import * as Transfer from "@catenet/crypto/settlement/Transfer"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { bytes, type Runners, sameHex, secret } from "./runner.ts"

const layouts: Readonly<Record<string, (input: any) => Uint8Array>> = {
  "transfer-layout": (input) =>
    Transfer.preimage({
      from: bytes(input.from),
      to: bytes(input.to),
      amount: BigInt(input.amount),
      nonce: BigInt(input.nonce)
    }),
  "hold-layout": (input) =>
    Hold.preimage({
      from: bytes(input.from),
      to: bytes(input.to),
      amount: BigInt(input.amount),
      matchRef: bytes(input.match_ref),
      nonce: BigInt(input.nonce),
      expiresAt: BigInt(input.expires_at)
    }),
  "vote-layout": (input) =>
    Election.votePreimage({
      term: BigInt(input.term),
      candidate: bytes(input.candidate),
      voter: bytes(input.voter)
    }),
  "leader-layout": (input) =>
    Election.leaderPreimage({
      term: BigInt(input.term),
      leader: bytes(input.leader),
      blockHash: bytes(input.block_hash)
    })
}

export const settlement: Runners = {
  bytes: ({ id, input, expect }) => {
    const layout = layouts[id]
    assert.isDefined(layout)
    sameHex(layout?.(input) ?? new Uint8Array(0), expect.bytes)
  },
  transfer: ({ input, expect }, suite) => {
    const order = { to: bytes(input.to), amount: BigInt(input.amount), nonce: BigInt(input.nonce) }
    const signed = Transfer.sign(suite, secret(input.from_seed), order)
    sameHex(Transfer.encode(signed), expect.wire)
    assert.strictEqual(Transfer.encode(signed).length, expect.length)
    assert.deepStrictEqual(Transfer.decode(bytes(expect.wire)), Result.succeed(signed))
    assert.isTrue(Transfer.verify(suite, signed))
  },
  hold: ({ input, expect }, suite) => {
    const signed = Hold.sign(suite, secret(input.from_seed), {
      to: bytes(input.to),
      amount: BigInt(input.amount),
      matchRef: bytes(input.match_ref),
      nonce: BigInt(input.nonce),
      expiresAt: BigInt(input.expires_at)
    })
    sameHex(Hold.encode(signed), expect.wire)
    assert.strictEqual(Hold.encode(signed).length, expect.length)
    assert.deepStrictEqual(Hold.decode(bytes(expect.wire)), Result.succeed(signed))
    assert.isTrue(Hold.verify(suite, signed))
  },
  block: ({ input, expect }, suite) => {
    const block = {
      height: BigInt(input.height),
      previous: bytes(input.prev_hash),
      transfers: input.transfers.map((wire: string) => Result.getOrThrow(Transfer.decode(bytes(wire))))
    }
    sameHex(Block.hash(suite, block), expect.hash)
    sameHex(Block.encode(suite, block), expect.wire)
    assert.deepStrictEqual(Block.decode(suite, bytes(expect.wire)), Result.succeed(block))
  },
  op: ({ expect }) => {
    for (const [name, wire] of Object.entries<string>(expect)) {
      const operation = Result.getOrThrow(decode(bytes(wire)))
      assert.strictEqual(operation._tag.toLowerCase(), name)
      sameHex(encode(operation), wire)
    }
  }
}
