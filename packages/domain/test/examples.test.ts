/** Every example runs, and every exported function has one. */
import { runExamples, sourcesOf } from "@catenet/testing/Examples"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")

/** Exported functions, and whether the comment above them has a block. */
const functionsOf = (text: string) =>
  [...text.matchAll(/(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export const (\w+) =\s+(?:<(?:(?!=>)[\s\S])*)?\(/gu)].map(
    ([, comment = "", name = ""]) => ({ name, shown: comment.includes("```ts") })
  )

describe("examples", () => {
  runExamples(root, [...sourcesOf(root), "README.md"])

  for (const file of sourcesOf(root)) {
    const functions = functionsOf(readFileSync(join(root, file), "utf8"))
    if (functions.length === 0) continue
    it(`${file} shows how to use ${functions.map(({ name }) => name).join(", ")}`, () => {
      assert.deepStrictEqual(
        functions.filter(({ shown }) => !shown).map(({ name }) => name),
        []
      )
    })
  }
})
