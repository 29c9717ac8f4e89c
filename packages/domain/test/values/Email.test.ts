import { Email } from "@catenet/domain/values/Email"
import { propertyRuns } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const read = Schema.decodeUnknownResult(Email)

describe("an e-mail address", () => {
  it.prop(
    "is kept lower-case and without blanks around it",
    [Email],
    ([email]) => {
      assert.deepStrictEqual(read(`  ${email.toUpperCase()} `), Result.succeed(email))
    },
    { arbitrary: { runs: propertyRuns } }
  )

  it("folds ASCII letters alone, so that no letter of another script becomes one of them", () => {
    assert.deepStrictEqual(read("Ada@Example.TEST"), Result.succeed("ada@example.test" as Email))
    for (const other of ["\u212aate@example.test", "\u00c9ve@example.test", "\u0130da@b.\u00dcx"])
      assert.deepStrictEqual(read(other), Result.succeed(other as Email))
  })

  it("has one local part and a domain with an inner dot", () => {
    for (const right of ["a@b.c", "a+b@c.d.e", "o'neil@example.test", "ünï@bücher.example"]) {
      assert.isTrue(Result.isSuccess(read(right)), right)
    }
    for (const wrong of [
      "",
      "a",
      "a@b",
      "@b.c",
      "a@",
      "a@b@c.d",
      "a b@c.d",
      "a@b.",
      "a@.b",
      "a@b..c",
      "a@b.c\n@d.e",
      "a\u0000@b.c"
    ]) {
      assert.isTrue(Result.isFailure(read(wrong)), JSON.stringify(wrong))
    }
    assert.isTrue(Result.isSuccess(read(`${"a".repeat(250)}@b.c`)))
    assert.isTrue(Result.isFailure(read(`${"a".repeat(251)}@b.c`)))
  })
})
