import * as JsonText from "@catenet/domain/values/JsonText"
import { maxUint64, Uint64 } from "@catenet/domain/values/Numbers"
import { often } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Equal, Exit, Schema } from "effect"

const codec = JsonText.codec(Schema.Struct({ n: Uint64 }))
const decode = Schema.decodeUnknownExit(codec)

describe("JSON with large integers", () => {
  it.prop(
    "keeps every unsigned 64-bit integer",
    [Uint64],
    ([n]) => {
      const text = Schema.encodeSync(codec)({ n })
      assert.strictEqual(text, `{"n":${n}}`)
      const back = decode(text)
      assert.isTrue(Exit.isSuccess(back) && back.value.n === n)
    },
    often
  )

  it("keeps the ones where a number would begin to round", () => {
    for (const n of [0n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, maxUint64]) {
      assert.strictEqual(Schema.decodeUnknownSync(codec)(`{"n":${n}}`).n, n)
    }
  })

  it("refuses what is none", () => {
    for (const n of ["-1", "1.5", "18446744073709551616", "1e400", `"7"`, "null", "9007199254740993.5"]) {
      assert.isTrue(Exit.isFailure(decode(`{"n":${n}}`)), n)
    }
    for (const text of ["", "{", `{"n":01}`, `{"n":1}}`, "undefined"]) assert.isTrue(Exit.isFailure(decode(text)), text)
  })

  it("reads exponents as the numbers they are", () => {
    assert.strictEqual(Schema.decodeUnknownSync(codec)(`{"n":1e3}`).n, 1000n)
    assert.isTrue(Exit.isFailure(decode(`{"n":1e17}`)))
  })

  it.prop(
    "reads and writes everything else as JSON does",
    [Schema.Array(Schema.Union([Schema.String, Schema.Boolean, Schema.Null, Schema.Int]))],
    ([values]) => {
      const text = JSON.stringify(values)
      assert.isTrue(Equal.equals(JsonText.parse(text), JSON.parse(text)))
      assert.strictEqual(JsonText.stringify(values), text)
    },
    often
  )

  it.prop(
    "throws a SyntaxError or reads, whatever the text",
    [Schema.String],
    ([text]) => {
      const exit = decode(text)
      if (Exit.isFailure(exit)) assert.isFalse(Exit.hasDies(exit))
    },
    often
  )

  it("writes a number wherever that is exact", () => {
    const written = [0n, 2n ** 53n - 1n, 2n ** 53n].map((n) => Schema.encodeSync(Uint64)(n))
    assert.deepStrictEqual(written, [0, Number.MAX_SAFE_INTEGER, 2n ** 53n])
  })

  it("is documented as an unsigned 64-bit integer", () => {
    assert.deepStrictEqual(Schema.toJsonSchemaDocument(Uint64).schema, {
      type: "integer",
      minimum: 0,
      exclusiveMaximum: 2 ** 64,
      format: "uint64"
    })
    const json = Schema.decodeUnknownExit(Schema.toCodecJson(Uint64))
    assert.deepStrictEqual(
      [0, 1, -1, "1"].map((value) => Exit.isSuccess(json(value))),
      [true, true, false, false]
    )
  })
})
