/** The acceptance rule of section 0.3, on both suites alike. */
import * as EdwardsPoint from "@catenet/crypto/EdwardsPoint"
import { native } from "@catenet/crypto/native"
import { portable } from "@catenet/crypto/portable"
import type { Suite } from "@catenet/crypto/Suite"
import { assert, describe, it } from "@effect/vitest"
import { anyBytes, bytes, flipped, integer, runs, suites } from "./arbitraries.ts"
import { cases, concat, encodings, order, prime, toLittleEndian, torsion } from "./hostile.ts"

const hostile = cases(2)

/** The verdict of both suites, which must be one. */
const verdict = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => {
  const of = ({ ed25519 }: Suite) => ({
    valid: ed25519.verifyLenient(publicKey, message, signature),
    strict: ed25519.verify(publicKey, message, signature),
    readable: ed25519.isPublicKey(publicKey)
  })
  const ours = of(portable)
  assert.deepStrictEqual(of(native), ours)
  return ours
}

describe.each(Object.entries(suites))("ed25519, %s", (_, { ed25519 }) => {
  it("gives each hostile signature the verdict of the cofactorless equation", () => {
    for (const { name, publicKey, message, signature, valid, strict } of hostile) {
      assert.strictEqual(ed25519.verifyLenient(publicKey, message, signature), valid, name)
      assert.strictEqual(ed25519.verify(publicKey, message, signature), strict, name)
      assert.isTrue(ed25519.isPublicKey(publicKey), name)
    }
  })

  it("refuses S at the group order and at its multiples", () => {
    const [seed, message] = [new Uint8Array(32).fill(5), Uint8Array.of(1)]
    const publicKey = ed25519.publicKey(seed)
    const signature = ed25519.sign(seed, message)
    const S = signature.subarray(32).reduceRight((value, byte) => value * 256n + BigInt(byte), 0n)
    assert.isTrue(ed25519.verifyLenient(publicKey, message, signature))
    for (let high = S + order; high < 1n << 256n; high += order) {
      const forged = concat(signature.subarray(0, 32), toLittleEndian(high))
      assert.isFalse(ed25519.verifyLenient(publicKey, message, forged))
    }
    const identity = encodings(torsion[0]!)[0]!
    assert.isTrue(ed25519.verifyLenient(identity, message, concat(identity, toLittleEndian(0n))))
    assert.isFalse(ed25519.verifyLenient(identity, message, concat(identity, toLittleEndian(order))))
  })

  it("reads y at and above the prime, and says which bytes are no point", () => {
    for (let y = 0n; y < 40n; y++) {
      const canonical = ed25519.isPublicKey(toLittleEndian(y))
      assert.strictEqual(ed25519.isPublicKey(toLittleEndian(y | (1n << 255n))), canonical)
      if (y < 19n) assert.strictEqual(ed25519.isPublicKey(toLittleEndian(prime + y)), canonical)
    }
  })

  it("answers input of any other length with false", () => {
    const [seed, message] = [new Uint8Array(32).fill(5), Uint8Array.of(1)]
    const publicKey = ed25519.publicKey(seed)
    const signature = ed25519.sign(seed, message)
    for (const length of [0, 1, 31, 33, 64]) {
      const key = concat(publicKey, new Uint8Array(32)).subarray(0, length)
      assert.isFalse(ed25519.verifyLenient(key, message, signature))
      assert.isFalse(ed25519.verify(key, message, signature))
      assert.isFalse(ed25519.isPublicKey(key))
    }
    for (const length of [0, 31, 32, 63, 65, 128]) {
      const cut = concat(signature, new Uint8Array(64)).subarray(0, length)
      assert.isFalse(ed25519.verifyLenient(publicKey, message, cut))
      assert.isFalse(ed25519.verify(publicKey, message, cut))
    }
  })
})

describe("ed25519, one suite against the other", () => {
  it("covers each class of hostile signature with accepted and refused ones", () => {
    const count = (pick: (name: string) => boolean, valid: boolean) =>
      hostile.filter((found) => pick(found.name) && found.valid === valid).length
    for (const part of [
      /^a=0 r=0/,
      /^a=0 r=[1-9]/,
      /^a=\d{2,} r=0/,
      /^a=\d{2,} r=\d{2,}/,
      /A\+T[^0].*R\+T[^0]/,
      /forms [^0] 0/
    ]) {
      assert.isAbove(
        count((name) => part.test(name), true),
        3,
        `${part}`
      )
      assert.isAbove(
        count((name) => part.test(name), false),
        3,
        `${part}`
      )
    }
  })

  it("knows the points of small order in all their encodings, and no other", () => {
    const all = torsion.flatMap(encodings)
    assert.strictEqual(all.length, 14)
    for (const encoded of all) {
      assert.isTrue(EdwardsPoint.isSmallOrder(encoded))
      for (let bit = 248; bit < 255; bit++) assert.isFalse(EdwardsPoint.isSmallOrder(flipped(encoded, bit)))
    }
    for (const { publicKey, name } of hostile) {
      assert.strictEqual(EdwardsPoint.isSmallOrder(publicKey), name.startsWith("a=0 "))
    }
    assert.isFalse(EdwardsPoint.isSmallOrder(new Uint8Array(32).fill(2)))
    const key = Buffer.alloc(32, 0xff)
    EdwardsPoint.isSmallOrder(key)
    assert.isTrue(key.equals(Buffer.alloc(32, 0xff)), "the key of the caller stays as it is")
  })

  it.prop(
    "signatures are the same bytes and valid",
    { seed: bytes(32), message: anyBytes() },
    ({ seed, message }) => {
      const publicKey = native.ed25519.publicKey(seed)
      assert.deepStrictEqual(portable.ed25519.publicKey(seed), publicKey)
      const signature = native.ed25519.sign(seed, message)
      assert.deepStrictEqual(portable.ed25519.sign(seed, message), signature)
      assert.deepStrictEqual(verdict(publicKey, message, signature), { valid: true, strict: true, readable: true })
    },
    runs
  )

  it.prop(
    "one turned bit is refused, wherever it is",
    { seed: bytes(32), message: bytes(40), bit: integer(0, 8 * (32 + 40 + 64) - 1) },
    ({ seed, message, bit }) => {
      const signature = native.ed25519.sign(seed, message)
      const record = flipped(concat(native.ed25519.publicKey(seed), message, signature), bit)
      const { valid, strict } = verdict(record.subarray(0, 32), record.subarray(32, 72), record.subarray(72))
      assert.isFalse(valid || strict)
    },
    runs
  )

  it.prop(
    "random bytes get one verdict",
    { publicKey: bytes(32), message: anyBytes(), signature: bytes(64) },
    ({ publicKey, message, signature }) => {
      assert.isFalse(verdict(publicKey, message, signature).valid)
    },
    runs
  )

  it.prop(
    "hostile keys with random commitments and scalars get one verdict",
    { at: integer(0, hostile.length - 1), from: integer(0, hostile.length - 1), scalar: bytes(32) },
    ({ at, from, scalar }) => {
      const { publicKey, message } = hostile[at]!
      const { signature } = hostile[from]!
      verdict(publicKey, message, signature)
      verdict(publicKey, message, concat(signature.subarray(0, 32), scalar))
      verdict(publicKey, message, concat(publicKey, signature.subarray(32)))
    },
    runs
  )
})
