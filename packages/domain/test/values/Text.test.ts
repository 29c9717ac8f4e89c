import { label, line } from "@catenet/domain/values/Text"
import { often } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const short = label(8)
const readLabel = Schema.decodeUnknownResult(short)
const readLine = Schema.decodeUnknownResult(line(8))

describe("a label", () => {
  it.prop(
    "loses the blanks around it and nothing else",
    [short, Schema.String.check(Schema.isPattern(/^[ \t]{0,12}$/u))],
    ([text, blanks]) => assert.deepStrictEqual(readLabel(blanks + text + blanks), Result.succeed(text)),
    often
  )

  it.prop(
    "is accepted exactly when one line of 1 to 8 characters is left",
    [Schema.String],
    ([text]) => {
      const left = text.replace(/^[ \t]+|[ \t]+$/gu, "")
      const length = [...left].length
      const clean = [...left].every((character) => !/[\p{Cc}\p{Cs}]/u.test(character))
      assert.strictEqual(Result.isSuccess(readLabel(text)), length >= 1 && length <= 8 && clean, JSON.stringify(text))
    },
    often
  )

  it("reads a long text of blanks in no time", () => {
    assert.isTrue(Result.isFailure(readLabel(" ".repeat(1_000_000) + "\u0000")))
  })
})

describe("a line", () => {
  it("counts characters, not code units, and refuses halves of them", () => {
    assert.isTrue(Result.isSuccess(readLine("🙂".repeat(8))))
    assert.isTrue(Result.isFailure(readLine("🙂".repeat(9))))
    assert.isTrue(Result.isFailure(readLine("🙂".slice(0, 1))))
    for (const control of ["\n", "\r", "\t", "\u0000", "\u007f", "\u0085"]) {
      assert.isTrue(Result.isFailure(readLine(`a${control}b`)), JSON.stringify(control))
    }
  })
})
