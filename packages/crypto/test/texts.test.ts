/** Hex, base64 and the tokens written in them. */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import * as Base64 from "@catenet/crypto/Base64"
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Bytes from "@catenet/crypto/Bytes"
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { portable } from "@catenet/crypto/portable"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import * as TokenEncoding from "../src/TokenEncoding.ts"
import * as any from "./arbitraries.ts"
import { flipped, runs } from "./suite/arbitraries.ts"

describe("hex", () => {
  it.prop(
    "is what the runtime writes, and is read in either case",
    { bytes: any.anyBytes(80) },
    ({ bytes }) => {
      const text = Hex.encode(bytes)
      assert.strictEqual(text, Buffer.from(bytes).toString("hex"))
      assert.deepStrictEqual(Hex.decode(text), Result.succeed(bytes))
      assert.deepStrictEqual(Hex.decode(text.toUpperCase(), bytes.length), Result.succeed(bytes))
      assert.isTrue(Result.isFailure(Hex.decode(text, bytes.length + 1)))
      assert.isTrue(Result.isFailure(Hex.decode(`${text}0`)))
    },
    runs
  )
  it.prop(
    "takes no other character anywhere",
    { bytes: any.bytes(8), at: any.integer(0, 15), noise: any.text },
    ({ bytes, at, noise }) => {
      const text = Hex.encode(bytes)
      const damaged = `${text.slice(0, at)}${noise.slice(0, 1)}${text.slice(at + 1)}`
      assert.strictEqual(Result.isSuccess(Hex.decode(damaged, 8)), /^[0-9a-fA-F]{16}$/.test(damaged))
      assert.strictEqual(Result.isSuccess(Hex.decode(noise)), /^(?:[0-9a-fA-F]{2})*$/.test(noise))
    },
    runs
  )
  it("knows its digits' borders", () => {
    for (const character of ["/", ":", "@", "G", "`", "g", "\0", "٣", "\u{1f600}"]) {
      assert.isTrue(Result.isFailure(Hex.decode(`0${character}`)), character)
      assert.isTrue(Result.isFailure(Hex.decode(`${character}0`)), character)
    }
    assert.deepStrictEqual(Hex.decode("09afAF"), Result.succeed(Uint8Array.of(0x09, 0xaf, 0xaf)))
  })
})

describe("base64", () => {
  it.prop(
    "is what the runtime writes, and only that is read",
    { bytes: any.anyBytes(80), noise: any.text },
    ({ bytes, noise }) => {
      const [standard, url] = [Base64.encode(bytes), Base64.encodeUrl(bytes)]
      assert.strictEqual(standard, Buffer.from(bytes).toString("base64"))
      assert.strictEqual(url, Buffer.from(bytes).toString("base64url"))
      assert.deepStrictEqual(Base64.decode(standard), Result.succeed(bytes))
      assert.deepStrictEqual(Base64.decodeUrl(url), Result.succeed(bytes))
      for (const read of [Base64.decode(noise), Base64.decode(`${standard}=`), Base64.decode(` ${standard}`)]) {
        assert.isTrue(Result.isFailure(read) || Base64.encode(read.success) === noise)
      }
      const again = Base64.decodeUrl(noise)
      assert.isTrue(Result.isFailure(again) || Base64.encodeUrl(again.success) === noise)
    },
    runs
  )
  it("refuses bits that no byte uses", () => {
    assert.isTrue(Result.isFailure(Base64.decode("AB==")))
    assert.isTrue(Result.isFailure(Base64.decodeUrl("AB")))
    assert.isTrue(Result.isFailure(Base64.decodeUrl("A")))
    assert.isTrue(Result.isFailure(Base64.decodeUrl("/+8")))
  })
})

describe("comparison", () => {
  it.prop(
    "in constant time and in order agree on equality",
    { a: any.anyBytes(6), b: any.anyBytes(6) },
    ({ a, b }) => {
      assert.strictEqual(ConstantTime.equal(a, b), Buffer.compare(a, b) === 0)
      assert.strictEqual(Math.sign(Bytes.compare(a, b)), Buffer.compare(a, b))
      assert.strictEqual(Bytes.equal(a, b), Buffer.compare(a, b) === 0)
      assert.isTrue(ConstantTime.equal(a, a.slice()))
    },
    runs
  )
})

it("a list of parts has one length only when every part has it", () => {
  const [one, two] = [new Uint8Array(1), new Uint8Array(2)]
  assert.deepStrictEqual(
    [Bytes.allOf(1, one, one), Bytes.allOf(1, one, two), Bytes.allOf(1, two, one), Bytes.allOf(1)],
    [true, false, false, true]
  )
})

it("a bootstrap token lives through the second that it names", () => {
  assert.deepStrictEqual(
    [4, 5, 6].map((now) => Bootstrap.alive(now, 5n)),
    [true, true, false]
  )
})

describe("UTF-8", () => {
  it.prop(
    "comes back as it went, or is refused",
    { text: any.text, bytes: any.anyBytes(20) },
    ({ text, bytes }) => {
      assert.deepStrictEqual(Bytes.toText(Bytes.fromText(text)), Result.succeed(text))
      const read = Bytes.toText(bytes)
      if (Result.isSuccess(read)) assert.deepStrictEqual(Bytes.fromText(read.success), bytes)
    },
    runs
  )
  it("keeps a byte order mark and has no bytes for half a surrogate pair", () => {
    assert.deepStrictEqual(Bytes.toText(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)), Result.succeed("\ufeffa"))
    assert.throws(() => Bytes.fromText("\ud800"))
  })
})

describe("tokens", () => {
  it.prop(
    "are read as they are shown, and no other text is one",
    { token: any.seed, noise: any.text },
    ({ token, noise }) => {
      const raw = Redacted.value(token)
      const [hex, url] = [Redacted.value(TokenEncoding.hexText(token)), Redacted.value(TokenEncoding.urlText(token))]
      assert.deepStrictEqual(Redacted.value(Result.getOrThrow(TokenEncoding.fromHexText(hex))), raw)
      assert.deepStrictEqual(Base64.decodeUrl(url), Result.succeed(raw))
      assert.strictEqual(url.length, 43)
      for (const bad of [noise, url, hex.slice(1)]) assert.isTrue(Result.isFailure(TokenEncoding.fromHexText(bad)))
      assert.isTrue(Result.isFailure(TokenEncoding.fromHexText(`${hex}0`)))
      assert.strictEqual(String(token).includes(hex), false)
    },
    runs
  )
  it("of a share link is hashed as the text that the link carries", () => {
    const token = TokenEncoding.urlText(Redacted.make(new Uint8Array(32).fill(0x5c)))
    assert.strictEqual(Redacted.value(token), "XFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFw")
    const digest = "d926a5db48ad7aaab0d8535422820bc5c64090c5a9bdd0ec1ebf4b9e231ec7d0"
    for (const suite of [native, portable]) assert.strictEqual(TokenEncoding.hashText(suite, token), digest)
  })
  it.prop(
    "match by header only when they are equal, and have no hash in common else",
    { token: any.seed, bit: any.integer(0, 255) },
    ({ token, bit }) => {
      const other = Redacted.make(flipped(Redacted.value(token), bit))
      const header = Redacted.value(AdminHeader.value(token))
      assert.isTrue(AdminHeader.matches(token, header) && !AdminHeader.matches(other, header))
      assert.isFalse(AdminHeader.matches(token, ` ${header}`))
      assert.notStrictEqual(TokenEncoding.hash(native, token), TokenEncoding.hash(native, other))
    },
    runs
  )
})
