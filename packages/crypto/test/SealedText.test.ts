import { native } from "@catenet/crypto/native"
import { portable } from "@catenet/crypto/portable"
import * as SealedText from "@catenet/crypto/SealedText"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { createCipheriv, createHmac } from "node:crypto"
import * as any from "./arbitraries.ts"
import { runs } from "./suite/arbitraries.ts"

const place = "alerts.secret"
const keyOf = (byte: number) => SealedText.keyOf(native, new Uint8Array(32).fill(byte))
const open = (keys: ReadonlyArray<SealedText.SealKey>, sealed: string, at = place) =>
  SealedText.open(native, keys, at, sealed)

describe("a pseudonym", () => {
  it("has these bytes, others at another place, for another text and under another key", () => {
    const key = createHmac("sha256", Buffer.alloc(32, 7)).update("catenet seal v1 pseudonyms").digest()
    const expected = createHmac("sha256", key)
      .update(Buffer.concat([Buffer.of(13), Buffer.from(`${place}192.0.2.1`)]))
      .digest("hex")
      .slice(0, 32)
    assert.strictEqual(SealedText.pseudonym(native, keyOf(7), place, "192.0.2.1"), expected)
    const others = [
      SealedText.pseudonym(native, keyOf(8), place, "192.0.2.1"),
      SealedText.pseudonym(native, keyOf(7), "alerts.secrets", "192.0.2.1"),
      SealedText.pseudonym(native, keyOf(7), "alerts.secre", "t192.0.2.1"),
      SealedText.pseudonym(native, keyOf(7), place, "192.0.2.2")
    ]
    assert.strictEqual(new Set([expected, ...others]).size, 5)
  })
})

describe("a sealed text", () => {
  it("has these bytes", () => {
    const master = Buffer.alloc(32, 7)
    const mac = (key: Uint8Array, data: Uint8Array | string) => createHmac("sha256", key).update(data).digest()
    const nonce = mac(
      mac(master, "catenet seal v1 nonces"),
      Buffer.concat([Buffer.of(13), Buffer.from(`${place}hello`)])
    )
    const cipher = createCipheriv(
      "chacha20-poly1305",
      mac(master, "catenet seal v1 encryption"),
      nonce.subarray(0, 12),
      {
        authTagLength: 16
      }
    )
    cipher.setAAD(Buffer.from(place))
    const body = Buffer.concat([nonce.subarray(0, 12), cipher.update("hello"), cipher.final(), cipher.getAuthTag()])
    const expected = `s1.${mac(master, "catenet seal v1 id").toString("hex", 0, 4)}.${body.toString("base64url")}`
    assert.strictEqual(SealedText.seal(native, keyOf(7), place, "hello"), expected)
    assert.strictEqual(expected, "s1.cc609cb9.wOlGhDwy2lX5luzkI4VMRSzJW3apYDDkhejjhFngcgWd")
  })

  it.prop(
    "opens for its place and key alone, in both suites alike",
    { text: any.text, other: any.integer(0, 255) },
    ({ other, text }) => {
      if (!text.isWellFormed()) return
      const sealed = SealedText.seal(native, keyOf(1), place, text)
      assert.strictEqual(
        SealedText.seal(portable, SealedText.keyOf(portable, new Uint8Array(32).fill(1)), place, text),
        sealed
      )
      assert.deepStrictEqual(open([keyOf(other), keyOf(1)], sealed), Result.succeed(text))
      assert.isTrue(Result.isFailure(open([keyOf(1)], sealed, "bridges.grant_hex")))
      assert.strictEqual(SealedText.keyIdOf(sealed), keyOf(1).id)
      if (other !== 1)
        assert.deepStrictEqual(
          open([keyOf(other)], sealed),
          Result.fail(new SealedText.SealKeyMissing({ keyId: keyOf(1).id }))
        )
    },
    runs
  )

  it.prop(
    "is refused when a character of it is another",
    { at: any.integer(0, 70), noise: any.integer(0, 63) },
    ({ at, noise }) => {
      const sealed = SealedText.seal(native, keyOf(1), place, "a".repeat(20))
      const character = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".charAt(noise)
      const damaged = `${sealed.slice(0, at)}${character}${sealed.slice(at + 1)}`
      if (damaged !== sealed) assert.isTrue(Result.isFailure(open([keyOf(1)], damaged)), damaged)
      assert.isTrue(Result.isFailure(open([keyOf(1)], sealed.slice(0, at))))
    },
    runs
  )

  it("is distinguished from text that was never sealed", () => {
    for (const text of [
      "",
      "s1",
      "s1..",
      "s1.0123456g.AAAA",
      "s2.01234567.AAAA",
      "0".repeat(64),
      "eyJhbGciOiJSUzI1NiJ9.e30.x"
    ])
      assert.isUndefined(SealedText.keyIdOf(text), text)
  })
})
