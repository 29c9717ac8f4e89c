/**
 * Runs every `ts` block of the sources' comments and of the README as a program of its own that imports the package by
 * name. A block that throws fails, and so does an exported function without a block.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const root = join(import.meta.dirname, "..")
const cache = join(root, "../../node_modules/.cache")
mkdirSync(cache, { recursive: true })
const programs = mkdtempSync(join(cache, "domain-examples-"))
afterAll(() => rmSync(programs, { recursive: true, force: true }))

const read = (file: string) => readFileSync(join(root, file), "utf8")

const blocksOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^([ *]*)```ts\n([\s\S]*?)^\1```$/gmu)].map(([, margin = "", code = ""]) =>
    code
      .split("\n")
      .map((row) => row.slice(margin.length))
      .join("\n")
  )

/** Exported functions, and whether the comment above them has a block. */
const functionsOf = (text: string) =>
  [...text.matchAll(/(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export const (\w+) =\s+(?:<(?:(?!=>)[\s\S])*)?\(/gu)].map(
    ([, comment = "", name = ""]) => ({ name, shown: comment.includes("```ts") })
  )

const sources = globSync("src/**/*.ts", { cwd: root }).sort()

describe("examples", () => {
  for (const file of [...sources, "README.md"]) {
    for (const [index, code] of blocksOf(read(file)).entries()) {
      it(`${file}, block ${index + 1}, runs`, async () => {
        const program = join(programs, `${file.replaceAll("/", "-")}-${index}.mjs`)
        writeFileSync(program, stripTypeScriptTypes(code))
        await import(pathToFileURL(program).href)
      })
    }
  }

  for (const file of sources) {
    const functions = functionsOf(read(file))
    if (functions.length === 0) continue
    it(`${file} shows how to use ${functions.map(({ name }) => name).join(", ")}`, () => {
      assert.deepStrictEqual(
        functions.filter(({ shown }) => !shown).map(({ name }) => name),
        []
      )
    })
  }
})
