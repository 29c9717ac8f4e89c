/** Each statement of the security page names a test that is there. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const folder = join(import.meta.dirname, "../../../../docs")
const page = readFileSync(join(folder, "security.md"), "utf8")
const [, held = ""] = page.split("## Guarantees and their tests")
const rows = (held.split("\n## ")[0] ?? "")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (?:statement|-)/.test(line))

describe("the security page", () => {
  it("has a test for each statement", () => {
    assert.isAbove(rows.length, 15)
  })

  it.each(rows)("%s", (row) => {
    const [, title = "", file = ""] = /\["([^\]]+)"\]\(([^)]+)\)/.exec(row) ?? []
    assert.notStrictEqual(title, "", "no test is named")
    assert.include(readFileSync(join(folder, file), "utf8").replaceAll(/\s+/g, " "), title)
  })
})
