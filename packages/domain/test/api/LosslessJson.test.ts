import { describeLossless, lossless } from "@catenet/domain/api/LosslessJson"
import { Uint64 } from "@catenet/domain/values/Numbers"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

class Inner extends Schema.Class<Inner>("Inner")({ units: Uint64 }) {}
class Outer extends Schema.Class<Outer>("Outer")({ inner: Inner }) {}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

describe("a lossless body", () => {
  it("keeps integers up to 2^64-1 in its text", () => {
    const text = '{"inner":{"units":18446744073709551615}}'
    const codec = lossless(Outer)
    assert.strictEqual(Schema.encodeSync(codec)(Schema.decodeUnknownSync(codec)(text)), text)
  })

  it("is described in the document by its own schema, and a reference to it has no other member", () => {
    const spec = {
      openapi: "3.1.0",
      paths: {
        described: { ...ref("OuterEncoded"), description: "text" },
        other: { ...ref("Other"), description: "text" },
        list: [{ ...ref("InnerEncoded"), type: "string" }, null, "text", 7],
        odd: { $ref: 7 }
      },
      components: { schemas: { Other: { type: "string" } }, securitySchemes: { a: 1 } }
    }
    const { components, ...rest } = describeLossless([Outer])(spec) as typeof spec
    assert.deepStrictEqual(rest, {
      openapi: "3.1.0",
      paths: {
        described: ref("OuterEncoded"),
        other: { ...ref("Other"), description: "text" },
        list: [ref("InnerEncoded"), null, "text", 7],
        odd: { $ref: 7 }
      }
    } as never)
    assert.deepStrictEqual(components.securitySchemes, { a: 1 })
    assert.sameMembers(Object.keys(components.schemas), ["Other", "InnerEncoded", "OuterEncoded"])
    assert.include(JSON.stringify(components.schemas), '{"$ref":"#/components/schemas/InnerEncoded"}')
    assert.notInclude(JSON.stringify(components.schemas), "$defs")
  })

  it("is described in a document that has no components yet", () => {
    const { components } = describeLossless([Inner])({}) as { components: { schemas: object } }
    assert.deepStrictEqual(Object.keys(components.schemas), ["InnerEncoded"])
  })
})
