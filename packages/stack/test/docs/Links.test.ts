/** Every link of the documentation to a file of this repository leads to one that is there. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dirname, "../../../..")
const pages = ["*.md", "docs/**/*.md", "packages/*/*.md", "packages/*/mutation/*.md"].flatMap((pattern) =>
  globSync(pattern, { cwd: root })
)

const linkedFrom = (page: string) =>
  Array.from(
    readFileSync(join(root, page), "utf8").matchAll(/(?:\]\(|\b(?:src|href)=")([^)#"\s]+)/g),
    ([, to]) => to ?? ""
  )

describe("the documentation", () => {
  it.each(pages)("%s links to files that are there", (page) => {
    const here = dirname(join(root, page))
    assert.deepStrictEqual(
      linkedFrom(page).filter((to) => !/^[a-z]+:/.test(to) && !existsSync(join(here, to))),
      []
    )
  })

  it("begins at the README, which leads to every guide", () => {
    const guides = globSync("docs/*.md", { cwd: root })
    assert.includeMembers(linkedFrom("README.md"), guides)
  })
})
