/** What is asked of every frame codec: round trip, no prefix is a frame, trailing bytes stay, no bytes make it throw. */
import { often } from "@catenet/testing/runs"
import { anyBytes, integer } from "@catenet/testing/wire/frames/arbitraries"
import { assert, it } from "@effect/vitest"
import { type Arbitrary, Result } from "effect"
import type { Decoding } from "../../src/frames/Frame.ts"

export const codecSuite = <A>(
  name: string,
  codec: {
    readonly values: Arbitrary.Arbitrary<A>
    readonly encode: (value: A) => Uint8Array
    readonly decode: (bytes: Uint8Array) => Decoding<A>
  }
) => {
  it.prop(
    `${name}: what was written is read, and nothing behind it`,
    { value: codec.values, rest: anyBytes(0, 40) },
    ({ rest, value }) => {
      const frame = codec.encode(value)
      assert.deepStrictEqual(codec.decode(Buffer.concat([frame, rest])), Result.succeed({ value, size: frame.length }))
    },
    often
  )

  it.prop(
    `${name}: a prefix is never a frame`,
    { value: codec.values },
    ({ value }) => {
      const frame = codec.encode(value)
      const step = Math.max(1, Math.floor(frame.length / 64))
      for (let end = 0; end < frame.length; end += step) {
        assert.deepStrictEqual(codec.decode(frame.subarray(0, end)), Result.fail({ _tag: "NeedMore" }))
      }
      assert.deepStrictEqual(codec.decode(frame.subarray(0, -1)), Result.fail({ _tag: "NeedMore" }))
    },
    often
  )

  it.prop(
    `${name}: any bytes get an answer`,
    { bytes: anyBytes(0, 80), value: codec.values, at: integer(0, 400), flip: integer(1, 255) },
    ({ at, bytes, flip, value }) => {
      codec.decode(bytes)
      const frame = Uint8Array.from(codec.encode(value))
      const index = at % frame.length
      frame[index]! ^= flip
      const damaged = codec.decode(frame)
      if (Result.isSuccess(damaged)) assert.isAtMost(damaged.success.size, frame.length)
    },
    often
  )
}
