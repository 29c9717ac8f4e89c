import * as Json from "@catenet/crypto/Json"
import { misreadKey } from "@catenet/testing/crypto/misreadKey"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result } from "effect"
import * as any from "./arbitraries.ts"
import { runs } from "./suite/arbitraries.ts"

/** Values with integers only, nested as deep as `depth`. */
const integral = (depth: number): Arbitrary.Arbitrary<Json.Json> => {
  const signed = Arbitrary.map(any.u64, (value) => BigInt.asIntN(64, value))
  const leaf: Arbitrary.Arbitrary<Json.Json> = Arbitrary.map(
    Arbitrary.all([any.integer(0, 3), signed, any.text, any.bool]),
    ([which, number, text, bool]): Json.Json => [number, text, bool, null][which] ?? null
  )
  if (depth === 0) return leaf
  const inner = integral(depth - 1)
  return Arbitrary.map(
    Arbitrary.all([any.integer(0, 2), leaf, any.few(inner), any.few(Arbitrary.all([any.text, inner]))]),
    ([which, value, array, entries]): Json.Json =>
      which === 0 ? value : which === 1 ? array : Object.assign(Object.create(null), Object.fromEntries(entries))
  )
}

const value = integral(3)

const inDecimal = (_: string, each: unknown) => (typeof each === "bigint" ? Number(each) : each)

const refusal = (text: string) => Result.getOrThrow(Result.flip(Json.parse(text)))

describe("JSON", () => {
  it.prop(
    "is read as it was written, to the last digit",
    { value },
    ({ value }) => assert.deepStrictEqual(Result.getOrThrow(Json.parse(Json.write(value))), value),
    runs
  )

  it.prop(
    "is read as the runtime reads it, wherever that is exact",
    { value },
    ({ value }) => {
      const exact = Json.write(value).replaceAll(/-?\d{16,}/g, "7")
      if (misreadKey.test(exact)) return
      const theirs: unknown = JSON.parse(exact, (_, each) => (typeof each === "number" ? BigInt(each) : each))
      const ours = Json.parse(exact)
      if (Result.isSuccess(ours))
        assert.deepEqual(JSON.stringify(theirs, inDecimal), JSON.stringify(ours.success, inDecimal))
    },
    runs
  )

  it.prop(
    "is canonical in one way only",
    { value },
    ({ value }) => {
      const text = Result.getOrThrow(Json.canonical(value))
      const reread = Result.getOrThrow(Json.parse(text))
      assert.deepStrictEqual(Json.canonical(reread), Result.succeed(text))
    },
    runs
  )

  it.prop(
    "has no prefix that is whole, and takes no more behind it",
    { value, cut: any.integer(0, 4000) },
    ({ value, cut }) => {
      const text = Json.write([value])
      assert.isTrue(Result.isFailure(Json.parse(text.slice(0, cut % text.length))))
      assert.isTrue(Result.isFailure(Json.parse(`${text}]`)))
      assert.isTrue(Result.isSuccess(Json.parse(` \t${text}\r\n`)))
    },
    runs
  )

  it.prop(
    "gives an answer for any text",
    { noise: any.text, value, cut: any.integer(0, 4000) },
    ({ noise, value, cut }) => {
      const text = Json.write(value)
      const at = cut % (text.length + 1)
      for (const tried of [noise, `${text.slice(0, at)}${noise}${text.slice(at)}`, text.slice(at)]) {
        const read = Json.parse(tried)
        if (Result.isSuccess(read)) {
          assert.deepStrictEqual(Json.parse(Json.write(read.success)), Result.succeed(read.success))
        }
      }
    },
    runs
  )

  it("reads numbers by how they are written", () => {
    const read = (text: string) => Result.getOrThrow(Json.parse(text))
    assert.deepStrictEqual([read("0"), read("-7"), read("18446744073709551615")], [0n, -7n, 2n ** 64n - 1n])
    assert.deepStrictEqual([read("1.0"), read("1e2"), read("-0"), read("9".repeat(21))], [1, 100, -0, 1e21])
    for (const bad of ["01", "+1", ".5", "1.", "0x1", "-", "NaN", "1_0", "1e999"]) refusal(bad)
  })

  it("writes a fraction and an integer so that each is read as itself", () => {
    const numbers = [0, -0, 100, 1e21, -1.5, 5e-324, 0n, 100n]
    const text = "[0.0,-0.0,100.0,1e+21,-1.5,5e-324,0,100]"
    assert.strictEqual(Json.write(numbers), text)
    assert.deepStrictEqual(Json.parse(text), Result.succeed(numbers))
    assert.throws(() => Json.write(Number.NaN), RangeError)
  })

  it("refuses what two readers could understand differently", () => {
    assert.strictEqual(refusal('{"a":1,"a":2}').why, "a key appears twice")
    assert.strictEqual(refusal('{"a":1,"\\u0061":2}').why, "a key appears twice")
    assert.strictEqual(refusal('["\\ud800"]').why, "half a surrogate pair")
    assert.strictEqual(refusal(`${"[".repeat(200)}${"]".repeat(200)}`).why, "nested deeper than 128")
    assert.isTrue(Result.isSuccess(Json.parse(`${"[".repeat(128)}${"]".repeat(128)}`)))
    for (const bad of [
      "",
      "[1,]",
      "{,}",
      '{"a"}',
      "{a:1}",
      "'a'",
      '"\n"',
      '"\\x"',
      '"',
      '"\\',
      "tru",
      "[] []",
      "nullx"
    ]) {
      refusal(bad)
    }
  })

  it("holds a value inside 128 others, arrays or objects, and no deeper", () => {
    const inside = (open: string, close: string, depth: number) =>
      Result.isSuccess(Json.parse(`${open.repeat(depth)}1${close.repeat(depth)}`))
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"]
    ] as const) {
      assert.deepStrictEqual([inside(open, close, 128), inside(open, close, 129)], [true, false])
    }
  })

  it("keeps keys that mean something to the runtime, and keys of one escaped character", () => {
    const text = '{"__proto__":1,"constructor":2,"\\n":3,"\\\\":4,"A":5}'
    const read = Result.getOrThrow(Json.parse(text))
    assert.strictEqual(Json.write(read), text)
    assert.strictEqual(Json.write(Result.getOrThrow(Json.parse('{"a":1,"\\n":1}'))), '{"a":1,"\\n":1}')
    assert.strictEqual(Json.write(Result.getOrThrow(Json.parse('{"a":1,"\\u0041":1}'))), '{"a":1,"A":1}')
  })

  it("sorts canonical keys by their UTF-8 bytes, where UTF-16 order differs", () => {
    assert.deepStrictEqual(
      Json.canonical({ "\u{10000}": 1n, "\uffff": 2n }),
      Result.succeed('{"\uffff":2,"\u{10000}":1}')
    )
  })

  it("has no canonical form for fractions and halves of surrogate pairs, however deep", () => {
    for (const bad of [1.5, "\ud800", [[1.5]], { a: { "\udc00": 1n } }]) {
      assert.isTrue(Result.isFailure(Json.canonical(bad)))
    }
  })
})
