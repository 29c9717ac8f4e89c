import { boundedArray } from "@catenet/domain/values/BoundedArray"
import { isMalformedOnly } from "@catenet/domain/values/Pattern"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

let seen = 0
const counted = Schema.Int.pipe(Schema.check(Schema.makeFilter(() => (seen++, true))))
const bounded = Schema.toCodecJson(Schema.Struct({ list: boundedArray(3, counted, 1) }))
const read = (list: unknown) => {
  seen = 0
  return Schema.decodeUnknownResult(bounded, { errors: "all" })({ list })
}
const numbers = (length: number) => Array.from({ length }, (_, n) => n)
const refusal = (list: unknown) => {
  const answer = read(list)
  assert.isTrue(Result.isFailure(answer))
  return Result.isFailure(answer) ? answer.failure : assert.fail()
}

describe("a list of at most so many", () => {
  it("is read up to its limit", () => {
    for (const length of [1, 2, 3]) {
      assert.deepStrictEqual(Result.getOrThrow(read(numbers(length))), { list: numbers(length) })
      assert.strictEqual(seen, length)
    }
  })

  it("is malformed beyond it, and no element is looked at", () => {
    for (const list of [numbers(4), Array.from({ length: 100_000 }, () => "x")]) {
      const { issue, message } = refusal(list)
      assert.strictEqual(message, `Expected at most 3 elements\n  at ["list"]`)
      assert.isTrue(isMalformedOnly(issue))
      assert.strictEqual(seen, 0)
    }
  })

  it("has the wrong shape when it is none, has too few, or wrong elements", () => {
    for (const list of [undefined, null, 7, "abc", { length: 1 }, [], ["x"], [1.5]]) {
      assert.isFalse(isMalformedOnly(refusal(list).issue), JSON.stringify(list))
    }
    assert.strictEqual(refusal(null).message, `Expected array\n  at ["list"]`)
    assert.strictEqual(refusal([1, "x", 2]).message, `Expected number\n  at ["list"][1]`)
  })

  it("is never made or written longer", () => {
    const encode = Schema.encodeUnknownResult(bounded)
    assert.isTrue(Result.isSuccess(encode({ list: numbers(3) })))
    assert.isTrue(Result.isFailure(encode({ list: numbers(4) })))
    assert.throws(() => boundedArray(3, Schema.Int).make(numbers(4)))
  })

  it("is described with its limits", () => {
    assert.deepInclude(Schema.toJsonSchemaDocument(boundedArray(3, Schema.String, 1)).schema, {
      type: "array",
      items: { type: "string" },
      minItems: 1,
      maxItems: 3
    })
  })
})
