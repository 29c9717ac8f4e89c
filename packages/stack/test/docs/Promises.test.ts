/** A guide says what there is: a sentence about what is still to come stays when it has come. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const root = join(import.meta.dirname, "../../../..")
const pages = globSync(["README.md", "docs/*.md", "packages/*/README.md", "tools/lint/*.json"], { cwd: root })

const promises =
  /\bnot (?:there|built|implemented) yet\b|\buntil [^.;|]{1,40} lands?\b|\bno program uses\b|\bwill be added\b/giu

const promisesIn = (text: string) => Array.from(text.replaceAll(/\s+/gu, " ").matchAll(promises), ([found]) => found)

describe("a page of the documentation", () => {
  it.each(pages)("promises nothing: %s", (page) => {
    assert.deepStrictEqual(promisesIn(readFileSync(join(root, page), "utf8")), [])
  })

  it("is found to promise something", () => {
    assert.deepStrictEqual(promisesIn("The agent's side is not there yet; it waits until channels land."), [
      "not there yet",
      "until channels land"
    ])
  })
})
