import { derive, displayName, labelOf } from "@catenet/domain/tunnels/HostnameDerivation"
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

  it("names", () => {
    assert.strictEqual(derive("Camera", "0123456789", "example.net"), "camera-01234567.example.net")
    assert.strictEqual(displayName("Camera", "camera-01234567.example.net"), "camera-01234567")
    assert.strictEqual(displayName("Camera", null), "Camera")
  })

  it.prop(
    "whatever the tunnel is called, the result is a host name",
    [Schema.String],
    ([name]) => {
      const derived = derive(name, "0123456789abcdef", "example.net")
      assert.strictEqual(Schema.decodeUnknownSync(Hostname)(derived), derived as Hostname)
    },
    often
  )
})
