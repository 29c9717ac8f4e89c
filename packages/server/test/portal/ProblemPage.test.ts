/** What a page says of the time after which a refusal may be different. */
import { assert, describe, it } from "@effect/vitest"
import { againOf, page } from "../../src/portal/shell/ProblemPage.ts"
import { english } from "../../src/portal/texts/English.ts"
import { german } from "../../src/portal/texts/German.ts"

describe("the page of a refusal", () => {
  it("says retry-after in words, in both languages, and nothing where it is not known", () => {
    const said = [0, 1, 2, 40, 119, 120, 3541].map((seconds) => againOf(english, seconds))
    assert.deepStrictEqual(said, [
      "Try again in 1 second.",
      "Try again in 1 second.",
      "Try again in 2 seconds.",
      "Try again in 40 seconds.",
      "Try again in 119 seconds.",
      "Try again in 2 minutes.",
      "Try again in 60 minutes."
    ])
    assert.strictEqual(againOf(german, 40), "Versuchen Sie es in 40 Sekunden noch einmal.")
    assert.strictEqual(againOf(german, 1), "Versuchen Sie es in 1 Sekunde noch einmal.")
    assert.strictEqual(againOf(german, 180), "Versuchen Sie es in 3 Minuten noch einmal.")
    assert.isUndefined(againOf(english, undefined))
    const facts = { title: "Too many", detail: "Too many.", links: [] }
    assert.notInclude(page({ ...facts, again: undefined }).main.text, "Try again")
    assert.include(page({ ...facts, again: "Try again in 2 minutes." }).main.text, "<p>Try again in 2 minutes.</p>")
  })
})
