import { Hostname } from "@catenet/domain/values/Hostname"
import { often } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const read = Schema.decodeUnknownResult(Hostname)
const accepted = (text: string) => Result.isSuccess(read(text))

/** The rules one by one, without a pattern. */
const isNormal = (text: string): boolean =>
  text.length >= 1 &&
  text.length <= 253 &&
  text
    .split(".")
    .every(
      (label) =>
        label.length >= 1 &&
        label.length <= 63 &&
        [...label].every((character) => "abcdefghijklmnopqrstuvwxyz0123456789-".includes(character)) &&
        !label.startsWith("-") &&
        !label.endsWith("-")
    )

const alphabet = Schema.String.check(Schema.isPattern(/^[a-zA-Z0-9._ -]{0,80}$/u))

describe("a host name", () => {
  it.prop(
    "has one normal form, whatever blanks, case and trailing dots it is given",
    [Hostname, Schema.Array(Schema.Boolean), Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))],
    ([host, upper, dots]) => {
      const spelled = Array.from(host, (letter, at) => (upper[at] === true ? letter.toUpperCase() : letter)).join("")
      assert.deepStrictEqual(read(` \t${spelled}${".".repeat(dots)}\n`), Result.succeed(host))
    },
    often
  )

  it.prop(
    "is accepted exactly when its normal form keeps the rules",
    [alphabet],
    ([text]) => {
      const normal = text.trim().replace(/\.+$/u, "").toLowerCase()
      const answer = read(text)
      assert.strictEqual(Result.isSuccess(answer), isNormal(normal), JSON.stringify(text))
      if (Result.isSuccess(answer)) assert.strictEqual(answer.success, normal)
    },
    often
  )

  it("is refused at each bound", () => {
    assert.isTrue(accepted("a"))
    assert.isTrue(accepted("a".repeat(63)))
    assert.isFalse(accepted("a".repeat(64)))
    const longest = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`
    assert.strictEqual(longest.length, 253)
    assert.isTrue(accepted(longest))
    assert.isFalse(accepted(longest + "d"))
    for (const wrong of [
      "",
      ".",
      " . ",
      "a..b",
      ".a",
      "-a",
      "a-",
      "a-.b",
      "a_b",
      "a b",
      "ä.test",
      "\u212A.test",
      "a\u0000"
    ]) {
      assert.isFalse(accepted(wrong), JSON.stringify(wrong))
    }
  })

  it("loses the five ASCII blanks at its ends beside the space, and no other control character", () => {
    for (const blank of [" ", "\t", "\n", "\v", "\f", "\r"]) {
      assert.strictEqual<string>(Result.getOrThrow(read(`${blank}a.test${blank}`)), "a.test")
    }
    for (const other of ["\b", "\u000e", "\u001f", "\u0021"]) assert.isFalse(accepted(`a.test${other}`))
  })
})
