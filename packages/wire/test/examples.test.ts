/** Runs every example of the README as a program that imports the package by its name. */
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const programs = join(root, "../../node_modules/.cache/catenet-wire-examples")
const readme = readFileSync(join(root, "README.md"), "utf8")

describe("the README", () => {
  rmSync(programs, { recursive: true, force: true })
  mkdirSync(programs, { recursive: true })
  const examples = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code)
  it("has an example of frames, of a session and of the relay", () => assert.lengthOf(examples, 3))
  for (const [index, code] of examples.entries())
    it(`example ${index + 1} runs`, async () => {
      const program = join(programs, `${index}.mjs`)
      writeFileSync(program, stripTypeScriptTypes(code))
      await import(program)
    })
})
