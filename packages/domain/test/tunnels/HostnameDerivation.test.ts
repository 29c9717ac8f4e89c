import { deriveHostname, labelOf } from "@catenet/domain/tunnels/HostnameOwnership"
import { Hostname } from "@catenet/domain/values/Hostname"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { often } from "../values/history.ts"

describe("derived host names", () => {
  it("labels", () => {
    const cases = [
      ["Camera", "camera"],
      ["My  Camera (2)!", "my-camera-2"],
      ["--a--b--", "a-b"],
      ["", "tunnel"],
      ["猫", "tunnel"],
      ["Ünï", "n"],
      ["a".repeat(50), "a".repeat(40)],
      [`${"a".repeat(39)} b`, `${"a".repeat(39)}-`]
    ] as const
    for (const [name, label] of cases) assert.strictEqual(labelOf(name), label)
  })

  it("the derived name is the label, eight digits of the account and the zone", () => {
    assert.strictEqual(deriveHostname("Camera", "0123456789", "example.net"), "camera-01234567.example.net")
  })

  it.prop(
    "any name of a tunnel gives a host name",
    [Schema.String],
    ([name]) => {
      const derived = deriveHostname(name, "0123456789abcdef", "example.net")
      assert.strictEqual(Schema.decodeUnknownSync(Hostname)(derived), derived as Hostname)
    },
    often
  )
})
