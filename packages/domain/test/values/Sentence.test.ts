import { assert, it } from "@effect/vitest"
import { clause, ended } from "../../src/values/Sentence.ts"

it("a text that is taken up in a sentence brings no full stop, whatever it ended with", () => {
  for (const text of ["try again", "try again.", "try again..", "try again. \n"])
    assert.strictEqual(clause(text), "try again")
  assert.strictEqual(clause("is 1.5"), "is 1.5")
})

it("a text before another sentence ends with one sign", () => {
  for (const text of ["try again", "try again.", "try again... "]) assert.strictEqual(ended(text), "try again.")
  for (const text of ["is it up?", "…", ""]) assert.strictEqual(ended(text), text)
})
