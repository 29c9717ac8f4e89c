import { AgentKind, OverlayMode } from "@catenet/domain/topologies/Topology"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const mode = Schema.decodeUnknownResult(OverlayMode)

describe("an overlay mode", () => {
  it("is read without regard to case and blanks, with underscores for hyphens", () => {
    for (const spelled of ["smart-route", " Smart_Route ", "SMART-ROUTE\n"]) {
      assert.deepStrictEqual(mode(spelled), Result.succeed("smart-route" as const))
    }
    for (const wrong of ["", "smart route", "ring", "baseline2"]) assert.isTrue(Result.isFailure(mode(wrong)), wrong)
  })
})

describe("an agent's kind", () => {
  it("is peer or super-peer", () => {
    const kind = Schema.decodeUnknownResult(AgentKind)
    assert.deepStrictEqual(kind("super-peer"), Result.succeed("super-peer" as const))
    for (const wrong of ["superpeer", "Peer", ""]) assert.isTrue(Result.isFailure(kind(wrong)), wrong)
  })
})
