/** Runs the `ts` blocks of a package's README and comments, each as a program of its own that imports packages by name. */
import { afterAll, it } from "@effect/vitest"
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

/** The blocks of a text, without the margin of a comment. */
const blocksOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^([ *]*)```ts\n([\s\S]*?)^\1```$/gmu)].map(([, margin = "", code = ""]) =>
    code
      .split("\n")
      .map((row) => row.slice(margin.length))
      .join("\n")
  )

/** The sources of a package, by their paths in it. */
export const sourcesOf = (root: string): ReadonlyArray<string> =>
  globSync("src/**/*.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .sort()

/** A test for each block of these files; a block that throws fails. Answers how many there are. */
export const runExamples = (root: string, files: ReadonlyArray<string>): number => {
  const cache = join(root, "../../node_modules/.cache")
  mkdirSync(cache, { recursive: true })
  const programs = mkdtempSync(join(cache, "examples-"))
  afterAll(() => rmSync(programs, { recursive: true, force: true }))
  const examples = files.flatMap((file) =>
    blocksOf(readFileSync(join(root, file), "utf8")).map((code, index) => ({ file, index, code }))
  )
  for (const { code, file, index } of examples)
    it(`${file}, block ${index + 1}, runs`, async () => {
      const program = join(programs, `${file.replaceAll("/", "-")}-${index}.mjs`)
      writeFileSync(program, stripTypeScriptTypes(code))
      await import(pathToFileURL(program).href)
    })
  return examples.length
}
