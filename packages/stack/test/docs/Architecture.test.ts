/** The page about the architecture names files that are there, and stays short. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../../..")
const text = readFileSync(join(root, "docs/architecture.md"), "utf8")

describe("docs/architecture.md", () => {
  it("names files that are there", () => {
    const named = Array.from(text.matchAll(/`([a-z]+)\/([A-Za-z/]+\.ts)`/g), ([, name = "", file = ""]) =>
      join("packages", name, "src", file)
    )
    assert.isAbove(named.length, 30)
    assert.deepStrictEqual(
      named.filter((file) => !existsSync(join(root, file))),
      []
    )
  })

  it("leads a reader through at most 20 files in each of its first five journeys", () => {
    const printed = execFileSync(process.execPath, [join(root, "tools/journeys.mjs"), "--counts"], { encoding: "utf8" })
    const counts = Array.from(printed.matchAll(/^(.+): (\d+) files/gm), ([, title, files]) => ({
      title,
      files: Number(files)
    }))
    assert.lengthOf(counts, 5)
    for (const { files, title } of counts) assert.isTrue(files >= 5 && files <= 20, `${title}: ${files}`)
  })

  it("has a section for each journey and at most two screens", () => {
    assert.deepStrictEqual(
      Array.from(text.matchAll(/^## (.*)$/gm), ([, title]) => title),
      [
        "Create a tunnel",
        "A visitor's request",
        "Two members of a channel",
        "An agent's start",
        "A receipt",
        "A bearer token",
        "An error"
      ]
    )
    assert.isAtMost(text.split("\n").length, 80)
  })
})
