import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { bytes, describe as describeLine, farewell, type Shown } from "../../src/terminal/StatusLine.ts"

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

describe("the words of the status line", () => {
  const shown = {
    session: { live: 1, conn: 1 },
    traffic: { bytesToOrigin: 10, bytesToClient: 2000 },
    requests: { count: undefined },
    open: 2,
    isStopping: false
  }

  it("say what is true: starting, online, offline, stopping, and at the end that it has stopped", () => {
    const of = (more: Partial<Shown>) => describeLine("a -> b", { ...shown, ...more })
    assert.strictEqual(of({}), "ct-agent online | 10 B in, 2.0 kB out | 2 open | a -> b")
    assert.include(of({ session: { live: 0, conn: undefined } }), "ct-agent starting |")
    assert.include(of({ session: { live: 0, conn: 3 } }), "ct-agent offline, reconnecting |")
    assert.include(of({ isStopping: true }), "ct-agent stopping |")
    assert.include(of({ requests: { count: 1 } }), "| 1 request | 10 B in")
    assert.strictEqual(
      farewell("a -> b", { ...shown, requests: { count: 0 } }),
      "ct-agent stopped | 0 requests | 10 B in, 2.0 kB out | a -> b"
    )
  })
})
