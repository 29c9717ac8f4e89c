import { assert } from "@effect/vitest"
import { Result } from "effect"
import * as Coordinate from "../records/Coordinate.ts"
import * as Staple from "../records/Staple.ts"
import { bytes, type Runners, sameHex, secret } from "./runner.ts"

const staple = (input: any): Staple.Claims => ({
  channel: bytes(input.channel),
  holder: bytes(input.holder),
  stapledAt: BigInt(input.stapled_at),
  expiresAt: BigInt(input.expires_at)
})

export const records: Runners = {
  bytes: ({ input, expect }) => sameHex(Staple.preimage(staple(input)), expect.bytes),
  staple: ({ input, expect }, suite) => {
    const signed = Staple.sign(suite, secret(input.operator_seed), staple(input))
    sameHex(Staple.encode(signed), expect.wire)
    assert.strictEqual(Staple.encode(signed).length, expect.length)
    const read = Result.getOrThrow(Staple.decode(bytes(expect.wire)))
    assert.deepStrictEqual(read, signed)
    assert.strictEqual(Staple.verify(suite, read, bytes(input.operator_pubkey), 1999), expect.valid_at_1999)
    assert.strictEqual(Staple.verify(suite, read, bytes(input.operator_pubkey), 2000), expect.valid_at_2000)
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
