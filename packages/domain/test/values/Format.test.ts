import { ageText, bytesText, durationText, percentText, timeText } from "@catenet/domain/values/Format"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { between, often } from "./history.ts"

describe("numbers for people", () => {
  it("percent", () => {
    assert.deepStrictEqual([0, 98.4, 98.44, 98.45, 99, 99.96, 100, -3, 250, NaN, null].map(percentText), [
      "0 %",
      "98.4 %",
      "98.4 %",
      "98.5 %",
      "99 %",
      "100 %",
      "100 %",
      "0 %",
      "100 %",
      "n/a",
      "n/a"
    ])
  })

  it("durations and ages", () => {
    assert.deepStrictEqual(
      [0, 0.9, 59, 60, 3599, 3600, 7200, 86_399, 86_400, 572_400, 8_640_000, -5].map(durationText),
      [
        "0 s",
        "0 s",
        "59 s",
        "1 m 0 s",
        "59 m 59 s",
        "1 h 0 m",
        "2 h 0 m",
        "23 h 59 m",
        "1 d 0 h",
        "6 d 15 h",
        "100 d 0 h",
        "0 s"
      ]
    )
    assert.deepStrictEqual([-1, 0, 59, 60, 119, 3599, 3600, 86_399, 86_400, 259_199].map(ageText), [
      "just now",
      "just now",
      "just now",
      "1 m",
      "1 m",
      "59 m",
      "1 h",
      "23 h",
      "1 d",
      "2 d"
    ])
  })

  it.prop(
    "a duration's text is right to its smaller unit",
    [between(0, 9_000_000)],
    ([seconds]) => {
      const size: Record<string, number> = { d: 86_400, h: 3600, m: 60, s: 1 }
      const words = durationText(seconds).split(" ")
      let written = 0
      for (let i = 0; i < words.length; i += 2) written += Number(words[i]) * (size[words[i + 1] ?? ""] ?? NaN)
      const smallest = size[words.at(-1) ?? ""] ?? NaN
      assert.isTrue(written <= seconds && seconds - written < smallest)
      assert.isTrue(words.length <= 4)
    },
    often
  )

  it("bytes", () => {
    assert.deepStrictEqual(
      [
        0,
        1,
        1023,
        1024,
        1536,
        1_048_524,
        1_048_525,
        1_048_576,
        10 ** 9,
        2n ** 40n,
        2n ** 50n,
        2n ** 60n,
        2n ** 64n - 1n
      ].map(bytesText),
      [
        "0 B",
        "1 B",
        "1023 B",
        "1.0 KiB",
        "1.5 KiB",
        "1023.9 KiB",
        "1.0 MiB",
        "1.0 MiB",
        "953.7 MiB",
        "1.0 TiB",
        "1.0 PiB",
        "1.0 EiB",
        "16.0 EiB"
      ]
    )
  })

  it("bytes: every unit, the step between two of them, and beyond the last", () => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    assert.deepStrictEqual(
      units.map((_, i) => bytesText(2 * 1024 ** i)),
      units.map((unit, i) => (i === 0 ? "2 B" : `2.0 ${unit}`))
    )
    assert.strictEqual(bytesText(1023.95 * 2 ** 50), "1.0 EiB")
    assert.strictEqual(bytesText(2 ** 70), "1024.0 EiB")
  })

  it.prop(
    "no size is written with four digits before the point in a step that has a next one",
    [Schema.BigInt.pipe(Schema.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** 64n - 1n })))],
    ([bytes]) => {
      const [figure = "", unit = ""] = bytesText(bytes).split(" ")
      assert.isTrue(Number(figure) < 1024, bytesText(bytes))
      assert.include(["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"], unit)
    },
    often
  )

  it("times", () => {
    assert.strictEqual(timeText(0), "1970-01-01 00:00")
    assert.strictEqual(timeText(1_767_600_059), "2026-01-05 08:00")
    assert.strictEqual(timeText(1e15), "n/a")
  })
})
