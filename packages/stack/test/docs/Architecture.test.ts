/** The page about the architecture names files that are there, and stays short. */
import { assert, describe, it } from "@effect/vitest"
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

  it("has a section for each journey and at most two screens", () => {
    assert.deepStrictEqual(
      Array.from(text.matchAll(/^## (.*)$/gm), ([, title]) => title),
      [
        "Create a tunnel",
        "A visitor's byte",
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
