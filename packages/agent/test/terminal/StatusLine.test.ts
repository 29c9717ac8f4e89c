import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { bytes } from "../../src/terminal/StatusLine.ts"

describe("the status line", () => {
  it("shows bytes in the unit that fits", () => {
    const table = [
      [0, "0 B"],
      [999, "999 B"],
      [1000, "1.0 kB"],
      [123_456, "123 kB"],
      [1_234_567, "1.2 MB"],
      [5e15, "5000 TB"]
    ] as const
    for (const [count, text] of table) assert.strictEqual(bytes(count), text)
  })

  it.prop(
    "never needs more than eight characters below 1000 TB",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e15 - 1 }))],
    ([count]) => {
      assert.isAtMost(bytes(count).length, 8)
    }
  )
})
