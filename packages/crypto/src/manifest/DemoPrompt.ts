/**
 * The optional demo prompt of a service manifest (section 15.2): a system text, the parameters a caller may set, examples.
 */
import { Schema, SchemaGetter } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as JsonField from "../JsonField.ts"
import * as Preimage from "../Preimage.ts"

const minI64 = -(2n ** 63n)
const maxI64 = 2n ** 63n - 1n

const I64 = Schema.Union([Schema.BigInt, Schema.Int]).pipe(
  Schema.decodeTo(Schema.BigInt.check(Schema.makeFilter((n) => (n >= minI64 && n <= maxI64) || "-2^63..2^63-1")), {
    decode: SchemaGetter.transform((value: bigint | number) => BigInt(value)),
    encode: SchemaGetter.passthrough()
  })
)

/** A parameter, flat in JSON. Its kind is fixed by `type`. */
const Parameter = Schema.Union([
  Schema.Struct({ name: JsonField.Text, type: Schema.Literal("enum"), options: Schema.Array(JsonField.Text) }),
  Schema.Struct({ name: JsonField.Text, type: Schema.Literal("color") }),
  Schema.Struct({
    name: JsonField.Text,
    type: Schema.Literal("multiselect"),
    options: Schema.Array(JsonField.Text),
    note: Schema.optionalKey(JsonField.Text)
  }),
  Schema.Struct({ name: JsonField.Text, type: Schema.Literal("int"), min: I64, max: I64 })
])

/** A parameter of a demo prompt. */
type Parameter = typeof Parameter.Type

/** The block in JSON. */
export const DemoPrompt = Schema.Struct({
  system: JsonField.Text,
  parameters: Schema.Array(Parameter),
  examples: Schema.Array(JsonField.Text)
})

/** A demo prompt. */
export type DemoPrompt = typeof DemoPrompt.Type

const i64le = (value: bigint): Uint8Array => Integer.u64le(BigInt.asUintN(64, value))

const kindBytes = (parameter: Parameter): Uint8Array => {
  switch (parameter.type) {
    case "enum":
      return Bytes.concat(Integer.u8(0), Preimage.list(parameter.options, Preimage.text))
    case "color":
      return Integer.u8(1)
    case "multiselect":
      return Bytes.concat(
        Integer.u8(2),
        Preimage.list(parameter.options, Preimage.text),
        Preimage.optional(parameter.note, Preimage.text)
      )
    case "int":
      return Bytes.concat(Integer.u8(3), i64le(parameter.min), i64le(parameter.max))
  }
}

/**
 * The block's bytes in the manifest's preimage, without the tag in front.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as DemoPrompt from "@catenet/crypto/manifest/DemoPrompt"
 *
 * const prompt = { system: "", parameters: [{ name: "n", type: "int", min: -1n, max: 1n }], examples: [] }
 * strictEqual(DemoPrompt.bytes(prompt).length, 4 + 4 + 5 + 1 + 16 + 4)
 * ```
 */
export const bytes = (prompt: DemoPrompt): Uint8Array =>
  Bytes.concat(
    Preimage.text(prompt.system),
    Preimage.list(prompt.parameters, (parameter) => Bytes.concat(Preimage.text(parameter.name), kindBytes(parameter))),
    Preimage.list(prompt.examples, Preimage.text)
  )
