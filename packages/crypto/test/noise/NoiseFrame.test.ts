/** Messages cut out of a stream, wherever its chunks end. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result } from "effect"
import { encode, FrameDecoder, sendLimit, split } from "../../src/noise/NoiseFrame.ts"
import { anyBytes, integer, runs } from "../suite/arbitraries.ts"
import { concat } from "../suite/hostile.ts"
import { ok, tag } from "./session.ts"

const messages = Arbitrary.array(anyBytes(), { maxLength: 6 })

/** The stream in chunks of the given sizes, over and over; a size of 0 is an empty chunk. */
const chunksOf = (stream: Uint8Array, sizes: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for (let start = 0, i = 0; start < stream.length; i++) {
    const size = sizes.length === 0 ? stream.length : (sizes[i % sizes.length] ?? 0) + (i % 3 === 0 ? 1 : 0)
    chunks.push(stream.slice(start, start + size))
    start += size
  }
  return chunks
}

describe("frames", () => {
  it.prop(
    "come out as they went in, however the stream is cut",
    { whole: messages, sizes: Arbitrary.array(integer(0, 40), { maxLength: 5 }) },
    ({ whole, sizes }) => {
      const decoder = new FrameDecoder()
      const stream = concat(...whole.map((message) => ok(encode(message))))
      const found = chunksOf(stream, sizes).flatMap((chunk) => ok(decoder.push(chunk)))
      assert.deepStrictEqual(found, whole)
      assert.strictEqual(tag(decoder.end()), "ok")
    },
    runs
  )

  it.prop(
    "a stream that ends inside a frame is noticed, and no frame is made of its start",
    { whole: messages, last: anyBytes(), cut: integer(1, 1000), first: integer(0, 1000) },
    ({ whole, last, cut, first }) => {
      const frames = [...whole, last].map((message) => ok(encode(message)))
      const stream = concat(...frames)
      const missing = 1 + ((cut - 1) % (last.length + 1))
      const start = stream.subarray(0, stream.length - missing)
      const decoder = new FrameDecoder()
      const at = first % (start.length + 1)
      const found = [...ok(decoder.push(start.subarray(0, at))), ...ok(decoder.push(start.subarray(at)))]
      assert.deepStrictEqual(found, whole)
      // With one byte of the length there, all that is known is that another byte must come.
      const known = missing === last.length + 1 ? 1 : missing
      assert.deepInclude(ok(Result.flip(decoder.end())), { _tag: "FrameTruncated", missing: known })
    },
    runs
  )

  it("hold at most 65,535 bytes", () => {
    assert.deepStrictEqual(ok(encode(new Uint8Array(258))).subarray(0, 2), Uint8Array.of(1, 2))
    const longest = new Uint8Array(65535).fill(1)
    const frame = ok(encode(longest))
    assert.deepStrictEqual(frame.subarray(0, 2), Uint8Array.of(255, 255))
    assert.deepStrictEqual(ok(new FrameDecoder().push(frame)), [longest])
    const refused = ok(Result.flip(encode(new Uint8Array(65536))))
    assert.deepInclude(refused, { _tag: "MessageTooLong", length: 65536, limit: 65535 })
  })

  it("above the reader's limit are refused at their length, before any byte is kept", () => {
    assert.deepStrictEqual(ok(new FrameDecoder(96).push(Uint8Array.of(0, 96))), [])
    assert.deepInclude(ok(Result.flip(new FrameDecoder(96).push(Uint8Array.of(0, 97)))), {
      _tag: "MessageTooLong",
      length: 97,
      limit: 96
    })
    const decoder = new FrameDecoder(255)
    assert.deepStrictEqual(ok(decoder.push(Uint8Array.of(1))), [])
    assert.strictEqual(tag(decoder.push(Uint8Array.of(0))), "MessageTooLong")
  })

  it("inside one chunk are views of it, others are bytes of their own", () => {
    const chunk = Uint8Array.of(0, 1, 5, 0, 2, 6)
    const decoder = new FrameDecoder()
    const [view] = ok(decoder.push(chunk))
    const rest = Uint8Array.of(7)
    const [own] = ok(decoder.push(rest))
    chunk.fill(0)
    rest.fill(0)
    assert.deepStrictEqual(view, Uint8Array.of(0))
    assert.deepStrictEqual(own, Uint8Array.of(6, 7))
  })

  it("that are cut say by how much", () => {
    const decoder = new FrameDecoder()
    ok(decoder.push(Uint8Array.of(1, 0, 7)))
    const cut = ok(Result.flip(decoder.end()))
    assert.strictEqual(cut.message, "the stream ended 255 bytes before the end of a frame")
  })
})

describe("split", () => {
  it.prop(
    "gives parts of the limit and a rest, as views, and nothing for nothing",
    { plaintext: anyBytes(), limit: integer(1, 50) },
    ({ plaintext, limit }) => {
      const parts = [...split(plaintext, limit)]
      assert.deepStrictEqual(concat(...parts), plaintext)
      for (const [i, part] of parts.entries()) {
        assert.strictEqual(part.length, i < parts.length - 1 ? limit : plaintext.length - i * limit)
        assert.strictEqual(part.buffer, plaintext.buffer)
      }
      assert.strictEqual(parts.length, Math.ceil(plaintext.length / limit))
    },
    runs
  )

  it("sends 16,384 bytes at most unless set otherwise", () => {
    assert.strictEqual(sendLimit, 16384)
    assert.deepStrictEqual(
      Array.from(split(new Uint8Array(40000)), (part) => part.length),
      [16384, 16384, 7232]
    )
  })
})
