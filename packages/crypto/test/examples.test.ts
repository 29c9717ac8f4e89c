/**
 * Runs every `ts` block in the source's comments and in the README, as a program that imports the package by name. A
 * block that throws fails, and so does an exported function without a block.
 */
import { runExamples, sourcesOf } from "@catenet/testing/Examples"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")

/** A module whose head says so is not for other programs. */
const isInternal = (source: string) => /^\/\*\*(?:(?!\*\/)[\s\S])*@internal/.test(source)

/** Exported functions and classes, error classes apart, and whether their comment has an example. */
const exportsOf = (source: string) =>
  [
    ...source.matchAll(
      /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export (?:const (\w+) = (?:<.*)?\(|class (\w+)\b(?! extends Data))/g
    )
  ].map(([, comment = "", constant, classOf]) => ({ name: constant ?? classOf, shown: comment.includes("```ts") }))

describe("examples", () => {
  runExamples(root, [...sourcesOf(root), "README.md"])
  for (const file of sourcesOf(root)) {
    it(`${file} has one for each exported function`, () => {
      const source = readFileSync(join(root, file), "utf8")
      const without = isInternal(source) ? [] : exportsOf(source).filter((found) => !found.shown)
      assert.deepStrictEqual(
        without.map((found) => found.name),
        []
      )
    })
  }
})
