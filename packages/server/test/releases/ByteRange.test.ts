import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as ByteRange from "../../src/releases/ByteRange.ts"

const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))

describe("a range of bytes", () => {
  const rows = [
    [undefined, 10, "whole"],
    ["bytes=0-", 10, { first: 0, last: 9 }],
    ["bytes=9-", 10, { first: 9, last: 9 }],
    ["bytes=10-", 10, "unsatisfiable"],
    ["BYTES=2-4", 10, { first: 2, last: 4 }],
    ["bytes=2-99", 10, { first: 2, last: 9 }],
    ["bytes=4-2", 10, "whole"],
    ["bytes=-3", 10, { first: 7, last: 9 }],
    ["bytes=-30", 10, { first: 0, last: 9 }],
    ["bytes=-0", 10, "unsatisfiable"],
    ["bytes=0-0", 0, "unsatisfiable"],
    ["bytes=-", 10, "whole"],
    ["bytes=0-1,3-4", 10, "whole"],
    ["items=0-1", 10, "whole"],
    ["bytes=0x1-2", 10, "whole"],
    ["bytes= 0-1", 10, "whole"],
    [`bytes=${"9".repeat(15)}-`, 10, "unsatisfiable"],
    [`bytes=${"9".repeat(16)}-`, 10, "whole"]
  ] as const
  for (const [header, size, wanted] of rows)
    it(`${header} of ${size}`, () => assert.deepStrictEqual(ByteRange.parse(header, size), wanted))

  it.prop(
    "stays within the file",
    [Arbitrary.schema(Small), Arbitrary.schema(Small), Arbitrary.schema(Small)],
    ([from, to, size]) => {
      for (const header of [`bytes=${from}-${to}`, `bytes=${from}-`, `bytes=-${to}`]) {
        const range = ByteRange.parse(header, size)
        if (typeof range === "string") continue
        assert.isTrue(range.first >= 0 && range.first <= range.last && range.last < size, header)
      }
    }
  )
})
