import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { GracefulEndMarker } from "../../src/mesh/NoiseStream.ts"

const heard = (isMarking: boolean, messages: ReadonlyArray<boolean>) => {
  const marks = new GracefulEndMarker()
  marks.isMarking = isMarking
  for (const isEmpty of messages) marks.heard(isEmpty)
  return marks
}

describe("the marks of an end", () => {
  it.prop(
    "are missing where both sides mark, and the last message is not empty or the only one",
    [Schema.Boolean, Schema.Array(Schema.Boolean)],
    ([isMarking, messages]) => {
      const [isMarked = false] = messages
      const ended = messages.length > 1 && messages.at(-1) === true
      assert.strictEqual(heard(isMarking, messages).areMissing, isMarking && isMarked && !ended)
      assert.strictEqual(heard(isMarking, messages).isEnd, ended)
    }
  )

  it("are not asked of a peer that says nothing, or begins with something to read", () => {
    for (const messages of [[], [false], [false, true, false]]) assert.isFalse(heard(true, messages).areMissing)
  })
})
