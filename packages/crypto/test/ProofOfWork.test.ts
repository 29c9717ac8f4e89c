import { native } from "@catenet/crypto/native"
import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as any from "./arbitraries.ts"
import { runs } from "./suite/arbitraries.ts"

describe("proof of work", () => {
  it.prop(
    "counts leading zero bits as a number would be written",
    { bytes: any.bytes(6), zeros: any.integer(0, 6) },
    ({ bytes, zeros }) => {
      const padded = Uint8Array.of(...new Uint8Array(zeros), ...bytes.subarray(zeros))
      const written = [...padded].map((byte) => byte.toString(2).padStart(8, "0")).join("")
      assert.strictEqual(ProofOfWork.leadingZeroBits(padded), /^0*/.exec(written)?.[0].length)
    },
    runs
  )
  it.prop(
    "finds the least solution, in one search or in slices",
    { nonce: any.bytes(16), token: any.key, difficulty: any.integer(0, 6) },
    ({ nonce, token, difficulty }) => {
      const challenge = { nonce, difficulty }
      const found = Option.getOrThrow(ProofOfWork.search(native, challenge, token, 0n, 5000))
      for (let solution = 0n; solution <= found; solution++) {
        assert.strictEqual(ProofOfWork.solves(native, challenge, { solution, routingToken: token }), solution === found)
      }
      assert.deepStrictEqual(ProofOfWork.search(native, challenge, token, 0n, Number(found)), Option.none())
      assert.deepStrictEqual(ProofOfWork.search(native, challenge, token, found, 1), Option.some(found))
    },
    runs
  )
  it("does not search beyond 64 bits", () => {
    const challenge = { nonce: new Uint8Array(16), difficulty: 255 }
    assert.deepStrictEqual(ProofOfWork.search(native, challenge, new Uint8Array(32), 2n ** 64n - 1n, 10), Option.none())
  })
})
