import * as EdwardsPoint from "@catenet/crypto/EdwardsPoint"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { isSmallEd25519, isSmallX25519 } from "@catenet/domain/values/Keys"
import { assert, it } from "@effect/vitest"
import { Result } from "effect"

const secret = new Uint8Array(32).fill(9)

/** What the key agreement itself makes of a key. */
const agreesOnZero = (key: Uint8Array) => Result.isFailure(native.x25519.sharedSecret(secret, key))

/** A number in both encodings: little-endian, with and without the top bit. */
const encodings = (number: bigint) =>
  [0n, 1n].map((top) => {
    const bytes = new Uint8Array(32)
    for (let at = 0, rest = number + (top << 255n); at < 32; at++, rest >>= 8n) bytes[at] = Number(rest & 255n)
    return bytes
  })

const prime = 2n ** 255n - 19n
const around = (middle: bigint) => Array.from({ length: 600 }, (_, n) => middle + BigInt(n - 300))

/** Every number near zero and near the prime, and so every one that has two encodings; and those in the middle. */
const numbers = [
  ...around(0n),
  ...around(prime),
  ...around(2n ** 254n),
  ...[
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"
  ].map((little) => BigInt(`0x${little.match(/../gu)?.reverse().join("") ?? ""}`))
].filter((number) => number >= 0n && number < 2n ** 255n)

it("the refused Ed25519 keys are those of small order by the crypto package, and no other", () => {
  const keys = numbers.flatMap(encodings)
  const small = keys.filter((key) => EdwardsPoint.isSmallOrder(key))
  assert.strictEqual(small.length, 14)
  for (const key of keys) {
    const hex = Hex.encode(key)
    assert.strictEqual(isSmallEd25519(hex), EdwardsPoint.isSmallOrder(key), hex)
  }
})

it("the refused X25519 keys are those that agree on zero, and no other", () => {
  const keys = numbers.flatMap(encodings)
  assert.strictEqual(keys.filter(agreesOnZero).length, 14)
  for (const key of keys) assert.strictEqual(isSmallX25519(Hex.encode(key)), agreesOnZero(key), Hex.encode(key))
})

it("keys that are made from seeds are never refused", () => {
  for (let seed = 0; seed < 256; seed++) {
    const bytes = native.sha256(Uint8Array.of(seed))
    assert.isFalse(isSmallEd25519(Hex.encode(native.ed25519.publicKey(bytes))))
    assert.isFalse(isSmallX25519(Hex.encode(native.x25519.publicKey(bytes))))
  }
})
