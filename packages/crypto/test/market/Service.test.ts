import * as Service from "@catenet/crypto/market/Service"
import { assert, describe, it } from "@effect/vitest"
import * as any from "../arbitraries.ts"
import { runs } from "../suite/arbitraries.ts"

describe("a service", () => {
  it.prop(
    "equals another exactly when both are written alike",
    { a: any.service, b: any.service },
    ({ a, b }) => {
      for (const other of [a, b, structuredClone(a)]) {
        const alike = Buffer.compare(Service.bytes(a), Service.bytes(other)) === 0
        assert.strictEqual(Service.equal(a, other), alike)
      }
    },
    runs
  )
  it("that is only named is none of the four, whatever its name", () => {
    assert.isFalse(Service.equal("SafetyCheck", { Custom: "SafetyCheck" }))
    assert.isFalse(Service.equal({ Custom: "SafetyCheck" }, "SafetyCheck"))
    assert.isFalse(Service.equal({ Custom: "a" }, { Custom: "b" }))
    assert.isFalse(Service.equal("SafetyCheck", "SecurityReview"))
    assert.isTrue(Service.equal({ Custom: "a" }, { Custom: "a" }))
    assert.isTrue(Service.equal("SafetyCheck", "SafetyCheck"))
  })
})
