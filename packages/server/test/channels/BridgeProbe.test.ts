import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Probe from "../../src/channels/BridgeProbe.ts"

const nothing = { agentVersion: undefined, readiness: undefined }

/** What an agent, a program of its owner, may have put where a line is expected. */
const unkept = ["", "a\u0000", "\ud800", "two\nlines", "x".repeat(65)]

describe("a probe of an agent's answer", () => {
  it("holds its version and its facts", () => {
    assert.deepStrictEqual(
      Probe.of({ version: "1.2.3", readiness: { relay_available: true, oidc_credential: "none" }, more: 1 }),
      { agentVersion: "1.2.3", readiness: { relay_available: true, oidc_credential: "none" } }
    )
    assert.deepStrictEqual(Probe.of({ version: "x".repeat(64) }), { ...nothing, agentVersion: "x".repeat(64) })
  })

  it("holds the facts of bridge/config, which stand side by side, and takes none from bridge/status", () => {
    const config = {
      role: "member",
      broker: "edge.example:4435",
      relay: null,
      direct_upgrade: true,
      cp_url_configured: true,
      docker_available: false,
      manifest_install_disabled: false,
      oidc_credential: "stored"
    }
    const { relay: _relay, ...kept } = config
    assert.deepStrictEqual(Probe.of(config), { agentVersion: undefined, readiness: kept })
    assert.deepStrictEqual(Probe.of({ version: "1.2.3", bridge_gated: true }), { ...nothing, agentVersion: "1.2.3" })
  })

  it("is empty for an empty answer", () => {
    for (const answer of [null, "1.2.3", 7, [], {}, { readiness: [] }, { readiness: "all" }])
      assert.deepStrictEqual(Probe.of(answer), nothing, JSON.stringify(answer))
  })

  it("leaves out texts that cannot be stored, and structures", () => {
    for (const text of unkept) {
      assert.deepStrictEqual(
        Probe.of({
          version: text,
          readiness: { [text]: true, value: text, inner: { deep: true }, list: [], n: 1, ok: false }
        }),
        { agentVersion: undefined, readiness: { ok: false } },
        JSON.stringify(text)
      )
    }
  })

  it("holds 64 facts at most", () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}_available`, false]))
    for (const [sent, stored] of [
      [64, 64],
      [65, 64]
    ] as const)
      assert.lengthOf(Object.keys(Probe.of({ readiness: many(sent) }).readiness ?? {}), stored)
  })

  it.prop("can always be stored", [Schema.Json], ([answer]) => {
    const { agentVersion = "", readiness = {} } = Probe.of({ version: answer, readiness: { answer } })
    const text = [agentVersion, ...Object.entries(readiness).flat()].join("")
    assert.isTrue(text.isWellFormed() && !text.includes("\u0000"))
  })
})
