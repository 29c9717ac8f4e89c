import { audit } from "@catenet/domain/values/AuditEffect"
import { assert, describe, it } from "@effect/vitest"

describe("audit entries", () => {
  it("hold the actor in lower case and nothing by themselves", () => {
    assert.deepStrictEqual(audit("did", "Ada", "Thing"), {
      _tag: "Audit",
      action: "did",
      actor: "ada",
      target: "Thing",
      detail: ""
    })
    assert.strictEqual(audit("did", "Ada", "Thing", "How").detail, "How")
  })
})
