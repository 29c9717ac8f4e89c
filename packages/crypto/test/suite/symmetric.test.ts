/** Hashes, MACs and the cipher of both suites: published answers, and each against the other. */
import { native } from "@catenet/crypto/native"
import { portable } from "@catenet/crypto/portable"
import { AuthenticationFailed } from "@catenet/crypto/Suite"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { anyBytes, bytes, flipped, integer, runs, suites } from "./arbitraries.ts"

const text = (value: string): Uint8Array => new TextEncoder().encode(value)
const hex = (value: Uint8Array): string => Buffer.from(value).toString("hex")
const fromHex = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value, "hex"))

describe.each(Object.entries(suites))("hashes and MACs, %s", (_, suite) => {
  it("agree with FIPS 180-4, RFC 7693, RFC 4231", () => {
    assert.strictEqual(
      hex(suite.sha256(text("abc"))),
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    assert.strictEqual(
      hex(suite.blake2s(text("abc"))),
      "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"
    )
    assert.strictEqual(
      hex(suite.hmacSha256(text("Jefe"), text("what do ya want for nothing?"))),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )
    assert.strictEqual(
      hex(suite.hmacBlake2s(text("Jefe"), text("what do ya want for nothing?"))),
      "90b6281e2f3038c9056af0b4a7e763cae6fe5d9eb4386a0ec95237890c104ff0"
    )
  })

  it("hash a key longer than a block first", () => {
    const [key, message] = [
      new Uint8Array(131).fill(0xaa),
      text("Test Using Larger Than Block-Size Key - Hash Key First")
    ]
    assert.strictEqual(
      hex(suite.hmacSha256(key, message)),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    )
    assert.strictEqual(
      hex(suite.hmacBlake2s(key, message)),
      "d23d79394f53d536a096e6514447eeaabb05ded01be32c1937da6a8f7103bc4e"
    )
  })
})

describe.each(Object.entries(suites))("chacha20poly1305, %s", (_, { chacha20poly1305: { seal, open } }) => {
  const key = fromHex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f")
  const nonce = fromHex("070000004041424344454647")
  const ad = fromHex("50515253c0c1c2c3c4c5c6c7")
  const plaintext = text(
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
  )

  it("agrees with RFC 8439, section 2.8.2", () => {
    const sealed = seal(key, nonce, ad, plaintext)
    assert.strictEqual(hex(sealed.subarray(0, 16)), "d31a8d34648e60db7b86afbc53ef7ec2")
    assert.strictEqual(hex(sealed.subarray(-16)), "1ae10b594f09e26a7e902ecbd0600691")
    assert.deepStrictEqual(open(key, nonce, ad, sealed), Result.succeed(plaintext))
  })

  it("refuses every prefix", () => {
    const sealed = seal(key, nonce, ad, plaintext)
    for (let length = 0; length < sealed.length; length++) {
      assert.deepStrictEqual(open(key, nonce, ad, sealed.subarray(0, length)), Result.fail(new AuthenticationFailed()))
    }
  })

  it("fills the output it is given, at any offset, and nothing beside it", () => {
    const sealed = seal(key, nonce, ad, plaintext)
    for (const offset of [0, 1, 2, 4]) {
      const room = new Uint8Array(offset + sealed.length + 3).fill(0xee)
      const output = room.subarray(offset, offset + sealed.length)
      assert.strictEqual(seal(key, nonce, ad, plaintext, output), output)
      assert.deepStrictEqual(output, sealed)
      assert.isTrue(room.subarray(0, offset).every((byte) => byte === 0xee))
      assert.isTrue(room.subarray(offset + sealed.length).every((byte) => byte === 0xee))
    }
  })

  it("gives plain bytes of their own, not views of the input", () => {
    const sealed = seal(key, nonce, ad, plaintext)
    const opened = Result.getOrThrow(open(key, nonce, ad, sealed))
    assert.strictEqual(Object.getPrototypeOf(opened), Uint8Array.prototype)
    assert.strictEqual(Object.getPrototypeOf(sealed), Uint8Array.prototype)
    sealed.fill(0)
    assert.deepStrictEqual(opened, plaintext)
  })

  it("throws on a key or nonce of the wrong length, which no decoder hands on", () => {
    assert.throws(() => seal(key.subarray(1), nonce, ad, plaintext))
    assert.throws(() => seal(key, nonce.subarray(1), ad, plaintext))
    assert.throws(() => open(key.subarray(1), nonce, ad, plaintext))
    assert.throws(() => open(key, nonce.subarray(1), ad, plaintext))
  })
})

describe("hashes, MACs and cipher, one suite against the other", () => {
  it.prop(
    "hashes and MACs are the same bytes",
    { key: anyBytes(200), data: anyBytes() },
    ({ key, data }) => {
      assert.deepStrictEqual(native.sha256(data), portable.sha256(data))
      assert.deepStrictEqual(native.blake2s(data), portable.blake2s(data))
      assert.deepStrictEqual(native.hmacSha256(key, data), portable.hmacSha256(key, data))
      assert.deepStrictEqual(native.hmacBlake2s(key, data), portable.hmacBlake2s(key, data))
    },
    runs
  )

  it.prop(
    "either opens what the other sealed, and neither what was touched",
    { key: bytes(32), nonce: bytes(12), ad: anyBytes(80), plaintext: anyBytes(), bit: integer(0, 1 << 16) },
    ({ key, nonce, ad, plaintext, bit }) => {
      const sealed = native.chacha20poly1305.seal(key, nonce, ad, plaintext)
      assert.deepStrictEqual(portable.chacha20poly1305.seal(key, nonce, ad, plaintext), sealed)
      for (const { open } of [native.chacha20poly1305, portable.chacha20poly1305]) {
        const refused = Result.fail(new AuthenticationFailed())
        assert.deepStrictEqual(open(key, nonce, ad, sealed), Result.succeed(plaintext))
        assert.deepStrictEqual(open(key, nonce, ad, flipped(sealed, bit)), refused)
        assert.deepStrictEqual(open(flipped(key, bit), nonce, ad, sealed), refused)
        assert.deepStrictEqual(open(key, flipped(nonce, bit), ad, sealed), refused)
        assert.deepStrictEqual(open(key, nonce, Uint8Array.of(...ad, 0), sealed), refused)
      }
    },
    runs
  )
})
