import { often } from "@catenet/testing/runs"
import { host, text } from "@catenet/testing/wire/frames/arbitraries"
import { assert, describe, it } from "@effect/vitest"
import { normalHost } from "../../src/frames/HostName.ts"

describe("normalHost", () => {
  const forms: ReadonlyArray<readonly [string, string | undefined]> = [
    ["Demo.Example.COM", "demo.example.com"],
    [" a.test.. ", "a.test"],
    ["localhost", "localhost"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    [`${"a".repeat(63)}.b`, `${"a".repeat(63)}.b`],
    [`${"a".repeat(64)}.b`, undefined],
    [Array.from({ length: 127 }, () => "a").join("."), Array.from({ length: 127 }, () => "a").join(".")],
    [`${"a.".repeat(127)}a`, undefined],
    ["", undefined],
    [".", undefined],
    ["a..b", undefined],
    [".a", undefined],
    ["-a.b", undefined],
    ["a-.b", undefined],
    ["a_b.c", undefined],
    ["a b.c", undefined],
    ["bücher.example", undefined],
    ["*.a.test", undefined],
    ["[::1]", undefined],
    ["a:443", undefined]
  ]
  for (const [from, to] of forms) {
    it(`${JSON.stringify(from.slice(0, 40))} is ${to === undefined ? "no host" : "a host"}`, () => {
      assert.strictEqual(normalHost(from), to)
    })
  }

  it.prop(
    "keeps what is in normal form, and finds it behind case, space and dots",
    { host },
    ({ host }) => {
      assert.strictEqual(normalHost(host), host)
      assert.strictEqual(normalHost(` ${host.toUpperCase()}. `), host)
    },
    often
  )

  it.prop(
    "is idempotent on any text",
    { text: text(300) },
    ({ text }) => {
      const once = normalHost(text)
      if (once !== undefined) assert.strictEqual(normalHost(once), once)
    },
    often
  )
})
