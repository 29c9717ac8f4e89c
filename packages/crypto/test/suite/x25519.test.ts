/** X25519 of both suites: RFC 7748, agreement, and the keys that give no secret. */
import { native } from "@catenet/crypto/native"
import { portable } from "@catenet/crypto/portable"
import { LowOrderPoint } from "@catenet/crypto/Suite"
import { assert, describe, it } from "@effect/vitest"
import { x25519 as curve } from "@noble/curves/ed25519.js"
import { Result } from "effect"
import { bytes, integer, runs, suites } from "./arbitraries.ts"
import { prime, toLittleEndian, torsion } from "./hostile.ts"

const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"))

/** The u-coordinates of the points of small order: of the curve by its Edwards form, and -1 of its twist. */
const lowOrder: ReadonlyArray<bigint> = (() => {
  const inverse = (value: bigint): bigint => {
    let [result, base, exponent] = [1n, ((value % prime) + prime) % prime, prime - 2n]
    for (; exponent > 0n; exponent >>= 1n, base = (base * base) % prime) {
      if (exponent & 1n) result = (result * base) % prime
    }
    return result
  }
  const ofCurve = torsion.map((point) => point.toAffine()).map(({ y }) => ((1n + y) * inverse(1n - y)) % prime)
  return [...new Set([...ofCurve, prime - 1n])]
})()

/** Each of them as a peer may write it: one prime higher where that fits, with the ignored top bit clear or set. */
const lowOrderKeys = lowOrder
  .flatMap((u) => (u + prime < 1n << 255n ? [u, u + prime] : [u]))
  .flatMap((u) => [toLittleEndian(u), toLittleEndian(u | (1n << 255n))])

describe.each(Object.entries(suites))("x25519, %s", (_, { x25519 }) => {
  it("agrees with RFC 7748, section 5.2 and 6.1", () => {
    const shared = x25519.sharedSecret(
      fromHex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
      fromHex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")
    )
    assert.deepStrictEqual(
      shared,
      Result.succeed(fromHex("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"))
    )
    const [ada, bob] = [
      x25519.keyPair(fromHex("77076d0a7318a57d3c16c17251b26645ff4c6be5ab8a0b0d1b6d5fa0c2b1a8b4")),
      x25519.keyPair(fromHex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))
    ]
    assert.deepStrictEqual(ada.sharedSecret(bob.publicKey), bob.sharedSecret(ada.publicKey))
    assert.deepStrictEqual(bob.publicKey, fromHex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
  })

  it("refuses every key of small order, in every encoding", () => {
    assert.isAtLeast(lowOrderKeys.length, 14)
    for (const secret of [new Uint8Array(32).fill(7), new Uint8Array(32), new Uint8Array(32).fill(255)]) {
      for (const key of lowOrderKeys) {
        assert.deepStrictEqual(x25519.sharedSecret(secret, key), Result.fail(new LowOrderPoint()))
        assert.deepStrictEqual(x25519.keyPair(secret).sharedSecret(key), Result.fail(new LowOrderPoint()))
      }
    }
  })

  it("keeps a secret of its own: a key pair does not change with the bytes it was made from", () => {
    const secret = new Uint8Array(32).fill(9)
    const pair = x25519.keyPair(secret)
    const before = pair.sharedSecret(curve.getPublicKey(new Uint8Array(32).fill(1)))
    secret.fill(0)
    assert.deepStrictEqual(pair.sharedSecret(curve.getPublicKey(new Uint8Array(32).fill(1))), before)
  })

  it("throws on a key of the wrong length, which no decoder hands on", () => {
    for (const length of [0, 31, 33]) {
      assert.throws(() => x25519.publicKey(new Uint8Array(length)))
      assert.throws(() => x25519.sharedSecret(new Uint8Array(32).fill(1), new Uint8Array(length)))
      assert.throws(() => x25519.sharedSecret(new Uint8Array(length), new Uint8Array(32).fill(9)))
    }
  })
})

it("the portable suite says which length it wants", () => {
  const secret = new Uint8Array(32).fill(1)
  assert.throws(() => portable.x25519.sharedSecret(secret, secret.subarray(1)), "31 bytes where 32 are needed")
})

describe("x25519, one suite against the other", () => {
  it.prop(
    "public keys and agreements are the same bytes",
    { secret: bytes(32), theirs: bytes(32) },
    ({ secret, theirs }) => {
      const publicKey = native.x25519.publicKey(secret)
      assert.deepStrictEqual(portable.x25519.publicKey(secret), publicKey)
      assert.deepStrictEqual(portable.x25519.keyPair(secret).publicKey, publicKey)
      assert.deepStrictEqual(native.x25519.keyPair(secret).publicKey, publicKey)
      const shared = native.x25519.sharedSecret(secret, theirs)
      assert.deepStrictEqual(portable.x25519.sharedSecret(secret, theirs), shared)
      assert.deepStrictEqual(native.x25519.keyPair(secret).sharedSecret(theirs), shared)
    },
    runs
  )

  it.prop(
    "keys above the prime are reduced alike",
    { secret: bytes(32), above: integer(2, 18), top: integer(0, 1) },
    ({ secret, above, top }) => {
      const high = toLittleEndian((prime + BigInt(above)) | (BigInt(top) << 255n))
      const reduced = native.x25519.sharedSecret(secret, toLittleEndian(BigInt(above)))
      assert.deepStrictEqual(native.x25519.sharedSecret(secret, high), reduced)
      assert.deepStrictEqual(portable.x25519.sharedSecret(secret, high), reduced)
    },
    runs
  )
})
