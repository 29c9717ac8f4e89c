/**
 * Imports a package's modules again and again, each time as they would be with one change. The files on disk stay as they are:
 * the changed text exists only in the module loader.
 */
import { readFileSync } from "node:fs"
import { registerHooks, stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { guarded } from "./mutants.ts"

const packages = pathToFileURL(join(import.meta.dirname, "../..")).href
const suite = pathToFileURL(join(import.meta.dirname, "suite.ts")).href
const mark = "?generation="

let generation = 0
let changed: { readonly file: string; readonly source: string } | undefined
let deadline = Infinity
let calls = 0

/** Thrown inside a loop that does not end. */
class Endless extends Error {}

Reflect.set(globalThis, "catenetGuard", () => {
  if (++calls % 1024 === 0 && performance.now() > deadline) throw new Endless("a loop without end")
})

const compiled = new Map<string, string>()
const compile = (source: string) => guarded(stripTypeScriptTypes(source), "catenetGuard")

const sourceOf = (file: string): string => {
  if (changed?.file === file) return compile(changed.source)
  const known = compiled.get(file) ?? compile(readFileSync(file, "utf8"))
  compiled.set(file, known)
  return known
}

registerHooks({
  resolve: (specifier, context, next) => {
    if (!context.parentURL?.includes(mark)) return next(specifier, context)
    if (specifier === "@effect/vitest" || specifier === "vitest") return { url: suite, shortCircuit: true }
    const found = next(specifier, context)
    return found.url.startsWith(packages) && found.url.endsWith(".ts")
      ? { ...found, url: `${found.url}${mark}${generation}`, format: "module" }
      : found
  },
  load: (url, context, next) => {
    const at = url.indexOf(mark)
    return at < 0
      ? next(url, context)
      : { format: "module", source: sourceOf(fileURLToPath(url.slice(0, at))), shortCircuit: true }
  }
})

/** Imports test files afresh, with `file` reading as `source`. Loops end, by an exception, after `milliseconds`. */
export const importWith = async (
  testFiles: ReadonlyArray<string>,
  file: string,
  source: string,
  milliseconds: number
): Promise<void> => {
  generation++
  changed = { file, source }
  deadline = performance.now() + milliseconds
  for (const testFile of testFiles) await import(`${pathToFileURL(testFile).href}${mark}${generation}`)
}
