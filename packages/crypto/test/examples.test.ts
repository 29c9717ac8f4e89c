/**
 * Runs every `ts` block in the source's comments and in the README, as a program that imports the package by name. A
 * block that throws fails, and so does an exported function without a block.
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const programs = join(root, "../../node_modules/.cache/catenet-crypto-examples")

const blocksOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(join(root, file), "utf8").matchAll(/^([ *]*)```ts\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = "", code = ""]) =>
      code
        .split("\n")
        .map((line) => line.slice(indent.length))
        .join("\n")
  )

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
  rmSync(programs, { recursive: true, force: true })
  mkdirSync(programs, { recursive: true })
  const sources = globSync("src/**/*.ts", { cwd: root }).sort()
  for (const file of [...sources, "README.md"]) {
    for (const [i, code] of blocksOf(file).entries()) {
      it(`${file} ${i + 1}`, async () => {
        const program = join(programs, `${file.replaceAll("/", "-")}-${i}.mjs`)
        writeFileSync(program, stripTypeScriptTypes(code))
        await import(program)
      })
    }
  }
  for (const file of sources) {
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
