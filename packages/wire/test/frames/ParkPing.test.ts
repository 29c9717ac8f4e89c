import { literal, u64 } from "@catenet/testing/wire/frames/arbitraries"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result } from "effect"
import { decodePark, encodePing, encodePong, type ParkFrame, stopFrame } from "../../src/frames/ParkPing.ts"
import { codecSuite } from "./codec.ts"

const frame: Arbitrary.Arbitrary<ParkFrame> = Arbitrary.map(
  Arbitrary.all({ _tag: literal(["Ping", "Pong", "Stop"]), counter: u64 }),
  ({ _tag, counter }) => (_tag === "Stop" ? { _tag } : { _tag, counter })
)
const encode = (frame: ParkFrame) =>
  frame._tag === "Stop" ? stopFrame : frame._tag === "Ping" ? encodePing(frame.counter) : encodePong(frame.counter)

describe("park ping", () => {
  codecSuite("park frame", { values: frame, encode, decode: decodePark })

  it("has the bytes of the specification", () => {
    assert.strictEqual(encodePing(0n).toString("hex"), "f90000000000000000")
    assert.strictEqual(encodePong(1n).toString("hex"), "fa0000000000000001")
    assert.strictEqual(stopFrame.toString("hex"), "fb")
  })

  it("refuses every other byte", () => {
    for (let byte = 0; byte < 256; byte++) {
      if (byte >= 0xf9 && byte <= 0xfb) continue
      assert.deepStrictEqual(
        decodePark(Buffer.from([byte])),
        Result.fail({ _tag: "Malformed", reason: "not a park frame" })
      )
    }
  })
})
