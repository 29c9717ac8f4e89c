import * as Integer from "@catenet/crypto/Integer"
import * as Preimage from "@catenet/crypto/Preimage"
import { assert, describe, it } from "@effect/vitest"
import * as any from "./arbitraries.ts"
import { runs } from "./suite/arbitraries.ts"

describe("preimage", () => {
  it.prop(
    "differs when any text of its lists is cut elsewhere",
    { one: any.few(any.text), other: any.few(any.text), domain: any.text },
    ({ one, other, domain }) => {
      const bytes = (texts: ReadonlyArray<string>) => Preimage.make(domain, Preimage.list(texts, Preimage.text))
      const same = JSON.stringify(one) === JSON.stringify(other)
      assert.strictEqual(Buffer.compare(bytes(one), bytes(other)) === 0, same)
    },
    runs
  )
  it.prop(
    "has the bytes that a plain writer gives",
    { domain: any.text, text: any.text, key: any.key, n: any.u64, count: any.integer(0, 0xffff_ffff) },
    ({ domain, text, key, n, count }) => {
      const expected: Array<Uint8Array> = []
      for (const part of [domain, text]) {
        const length = Buffer.alloc(4)
        length.writeUInt32LE(Buffer.byteLength(part))
        expected.push(length, Buffer.from(part))
      }
      const [long, short] = [Buffer.alloc(8), Buffer.alloc(4)]
      long.writeBigUInt64LE(n)
      short.writeUInt32LE(count)
      const fields = [Preimage.text(text), Preimage.fixed32(key), Integer.u64le(n), Integer.u32le(count)]
      assert.strictEqual(
        Buffer.compare(Preimage.make(domain, ...fields), Buffer.concat([...expected, key, long, short])),
        0
      )
      assert.strictEqual(Integer.readU64le(Integer.u64le(n), 0), n)
    },
    runs
  )
  it("refuses fields that do not fit instead of wrapping them", () => {
    for (const wrong of [-1, 256, 1.5, Number.NaN]) assert.throws(() => Integer.u8(wrong), RangeError)
    for (const wrong of [-1, 0x1_0000]) {
      assert.throws(() => Integer.u16be(wrong), RangeError)
      assert.throws(() => Integer.u16le(wrong), RangeError)
    }
    for (const wrong of [-1, 0x1_0000_0000]) {
      assert.throws(() => Integer.u32be(wrong), RangeError)
      assert.throws(() => Integer.u32le(wrong), RangeError)
    }
    for (const wrong of [-1n, 2n ** 64n]) assert.throws(() => Integer.u64le(wrong), RangeError)
    assert.throws(() => Preimage.fixed32(new Uint8Array(33)), RangeError)
    assert.throws(() => Preimage.fixed64(new Uint8Array(63)), RangeError)
    assert.throws(() => Preimage.text("\ud800"))
  })
})
