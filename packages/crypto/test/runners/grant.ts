import * as Bytes from "@catenet/crypto/Bytes"
import * as Grant from "@catenet/crypto/Grant"
import * as Permission from "@catenet/crypto/Permission"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { bytes, outcome, type Runners, sameHex, secret } from "./runner.ts"

const claims = (input: any): Grant.Claims => ({
  channel: bytes(input.channel),
  holder: bytes(input.holder),
  direction: input.direction,
  rights: input.rights,
  delegable: input.delegable,
  expiresAt: BigInt(input.expires_at)
})

export const grant: Runners = {
  grant: ({ input, expect }, suite) => {
    const signed = Grant.sign(suite, secret(input.operator_seed), claims(input))
    assert.deepStrictEqual(Bytes.toText(Grant.preimage(signed)), Result.succeed(expect.signed_text))
    sameHex(Grant.encode(signed), expect.wire)
    assert.strictEqual(Grant.encode(signed).length, expect.wire_length)
    assert.deepStrictEqual(Result.getOrThrow(Grant.fromHex(expect.wire)), signed)
    const hex = Grant.toHex(signed)
    if (expect.hex_length !== undefined) {
      assert.strictEqual(hex.length, expect.hex_length)
      assert.strictEqual(hex.slice(...expect.channel_at_hex), input.channel)
      assert.strictEqual(hex.slice(...expect.holder_at_hex), input.holder)
    }
  },
  verify: ({ input, expect }, suite) => {
    const decoded = Result.getOrThrow(Grant.fromHex(input.wire))
    const verified = Grant.verify(suite, decoded, bytes(input.operator_pubkey), BigInt(input.now))
    assert.strictEqual(outcome(verified), expect.result)
  },
  decode: ({ input, expect }) => {
    assert.strictEqual(outcome(Grant.decode(bytes(input.wire))), expect.result)
    assert.strictEqual(outcome(Grant.fromHex(input.wire)), expect.result)
  },
  table: ({ expect }) => {
    for (const row of expect.permits ?? []) {
      assert.strictEqual(Permission.permits(row.grant, row.wanted), row.permits)
    }
    for (const rights of ["r", "w", "rw"] as const) {
      if (expect[rights] === undefined) continue
      const able = { read: Permission.mayRead(rights), write: Permission.mayWrite(rights) }
      assert.deepStrictEqual(able, expect[rights])
    }
    assert.isTrue("permits" in expect || "rw" in expect)
  }
}
