import { pattern, patternBy, isMalformedOnly, literal } from "@catenet/domain/values/Pattern"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const Digit = Schema.String.check(pattern(/^[0-9]$/u, "a digit"))
const Even = Schema.String.check(patternBy((text) => text.length % 2 === 0, "an even text", /^(?:ab)*$/u))
const Answer = literal(["yes", "no"])

/** What became of an input: accepted, refused as a malformed text, or refused as another shape. */
const judged = (noun: Schema.Codec<unknown>, input: unknown) => {
  const answer = Schema.decodeUnknownResult(noun, { errors: "all" })(input)
  if (Result.isSuccess(answer)) return "accepted"
  return isMalformedOnly(answer.failure.issue) ? "malformed" : "shape"
}

describe("a text of a form", () => {
  it("is malformed when it is a text, and of another shape when it is none", () => {
    for (const [noun, good, bad] of [
      [Digit, "7", "x"],
      [Even, "ab", "a"],
      [Answer, "no", "maybe"]
    ] as const) {
      const inputs = [good, bad, 7, null, undefined, {}]
      const answers = inputs.map((input) => judged(noun as Schema.Codec<unknown>, input))
      assert.deepStrictEqual(answers, ["accepted", "malformed", "shape", "shape", "shape", "shape"])
    }
  })

  it("needs no sample", () => {
    assert.strictEqual(judged(Schema.String.check(patternBy((text) => text === "a", "an a")), "b"), "malformed")
  })

  it("is malformed inside a list, an object or a choice only when nothing else is wrong", () => {
    const Both = Schema.Struct({ a: Digit, b: Answer })
    assert.strictEqual(judged(Both, { a: "1", b: "yes" }), "accepted")
    assert.strictEqual(judged(Both, { a: "x", b: "yes" }), "malformed")
    assert.strictEqual(judged(Both, { a: "x", b: "maybe" }), "malformed")
    assert.strictEqual(judged(Both, { a: "x", b: 7 }), "shape")
    assert.strictEqual(judged(Both, { a: 7, b: "maybe" }), "shape")
    assert.strictEqual(judged(Both, { a: "x" }), "shape")
    assert.deepStrictEqual(
      [["1"], ["x"], ["x", 7]].map((list) => judged(Schema.Array(Digit), list)),
      ["accepted", "malformed", "shape"]
    )
    const Either = Schema.Union([Digit, Even])
    assert.deepStrictEqual(
      ["1", "ab", "abc", 7].map((input) => judged(Either, input)),
      ["accepted", "accepted", "malformed", "shape"]
    )
  })

  it("is not malformed by a check that is no form", () => {
    assert.strictEqual(judged(Schema.String.check(Schema.isMaxLength(1)), "ab"), "shape")
    assert.strictEqual(judged(Schema.Int.check(Schema.isGreaterThan(0)), 0), "shape")
  })

  it("says what is expected", () => {
    const sentence = (noun: Schema.Codec<unknown>) => {
      const answer = Schema.decodeUnknownResult(noun)("?")
      return Result.isFailure(answer) ? answer.failure.message : ""
    }
    assert.match(sentence(Answer), /^Expected one of yes, no/u)
    assert.match(sentence(Digit), /^Expected a digit/u)
  })
})
