import { Hex128, Hex278, Hex32, Hex64 } from "@catenet/domain/values/Hex"
import { often } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

describe("hex", () => {
  for (const [digits, hex] of [
    [32, Hex32],
    [64, Hex64],
    [128, Hex128],
    [278, Hex278]
  ] as const) {
    const read = Schema.decodeUnknownResult(hex as Schema.Codec<string>)

    it.prop(
      `of ${digits} digits is read in either case and kept lower-case`,
      [hex as Schema.Codec<string>, Schema.Array(Schema.Boolean)],
      ([text, upper]) => {
        const spelled = Array.from(text, (digit, at) => (upper[at] === true ? digit.toUpperCase() : digit)).join("")
        assert.deepStrictEqual(read(spelled), Result.succeed(text))
      },
      often
    )

    it.prop(
      `of ${digits} digits has exactly that length and no other character`,
      [hex as Schema.Codec<string>, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: digits - 1 }))],
      ([text, at]) => {
        assert.isTrue(Result.isFailure(read(text.slice(1))))
        assert.isTrue(Result.isFailure(read(text + "0")))
        for (const foreign of ["g", "+", " ", "\n", "０", "é", "\u0000"]) {
          assert.isTrue(Result.isFailure(read(text.slice(0, at) + foreign + text.slice(at + 1))), foreign)
        }
      },
      often
    )
  }
})
