import { bytes, integer, u64 } from "@catenet/testing/wire/frames/arbitraries"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result } from "effect"
import { decodeChallenge, decodeSolution, encodeChallenge, encodeSolution } from "../../src/frames/Rendezvous.ts"
import { codecSuite } from "./codec.ts"

describe("rendezvous", () => {
  codecSuite("challenge", {
    values: Arbitrary.all({ nonce: bytes(16), difficulty: integer(0, 32) }),
    encode: encodeChallenge,
    decode: decodeChallenge
  })
  codecSuite("solution", {
    values: Arbitrary.all({ solution: u64, token: bytes(32) }),
    encode: encodeSolution,
    decode: decodeSolution
  })

  it("writes the solution in little-endian order before the token", () => {
    const frame = encodeSolution({ solution: 0x0102n, token: Buffer.alloc(32, 0xaa) })
    assert.strictEqual(frame.toString("hex"), `0201000000000000${"aa".repeat(32)}`)
  })

  it("refuses to search for more than 32 bits", () => {
    const challenge = encodeChallenge({ nonce: Buffer.alloc(16), difficulty: 33 })
    assert.isTrue(Result.isFailure(decodeChallenge(challenge)))
  })
})
