/**
 * What holds for every noun: it survives its JSON, its JSON has one form, and no JSON value whatever makes its decoder
 * throw. JSON is read and written by `JsonText`, so integers up to 2^64-1 are part of it.
 */
import * as JsonText from "@catenet/domain/values/JsonText"
import { misreadKey } from "@catenet/testing/crypto/misreadKey"
import { propertyRuns } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Exit, Schema } from "effect"

/** Any JSON value. */
const anything = Arbitrary.schema(Schema.Json)

/** A noun's own JSON with one of its values, at any depth, replaced. */
const spoil = (value: unknown, by: unknown, at: number): unknown => {
  if (typeof value !== "object" || value === null) return by
  const keys = Object.keys(value)
  if (keys.length === 0) return by
  const key = keys[at % keys.length] ?? ""
  const inner = (value as Record<string, unknown>)[key]
  const next = at % 3 === 0 ? by : spoil(inner, by, Math.floor(at / keys.length))
  return Array.isArray(value) ? value.with(Number(key), next) : { ...value, [key]: next }
}

const place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

/** Runs the properties on every schema that a room of the package exports. */
export const describeNouns = (room: string, exported: object): void => {
  const nouns = Object.entries(exported).filter(([, own]) => Schema.isSchema(own))

  describe(room, () => {
    it("has nouns", () => assert.isNotEmpty(nouns))

    it("names each class as it is exported", () => {
      // `New...` is the same noun, held to more where it is stored for the first time.
      for (const [name, own] of nouns)
        if ("identifier" in own) assert.strictEqual(own.identifier, name.replace(/^New/, ""))
    })

    for (const [name, own] of nouns) {
      const noun: Schema.Codec<unknown> = own
      const encode = (value: unknown) => JsonText.stringify(Schema.encodeUnknownSync(noun)(value))
      const decode = Schema.decodeUnknownExit(noun)

      it.prop(
        name,
        [Arbitrary.schema(noun), anything, place],
        ([value, junk, at]) => {
          const text = encode(value)
          if (misreadKey.test(text)) return
          const back = decode(JsonText.parse(text))
          assert.isTrue(Exit.isSuccess(back), text)
          if (Exit.isSuccess(back)) assert.strictEqual(encode(back.value), text)
          for (const input of [junk, spoil(JsonText.parse(text), junk, at)]) {
            const exit = decode(input)
            if (Exit.isFailure(exit)) assert.isFalse(Exit.hasDies(exit), JsonText.stringify(input))
            else assert.isTrue(Exit.isSuccess(decode(JsonText.parse(encode(exit.value)))))
          }
        },
        { arbitrary: { runs: propertyRuns }, timeout: 60_000 + propertyRuns * 60 }
      )
    }
  })
}
