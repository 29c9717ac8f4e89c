/**
 * Mutation testing: tries every small change of the given source files, and reports those that no test notices.
 *
 *     node packages/domain/mutation/main.ts [--runs 50] [--again 1000] [--test file] [--skip names] [--at line:column] [file or folder ...]
 *
 * Without files it takes every area of this package. A mutant that survives `--runs` runs of every property is tried once more
 * with `--again` runs. Tests whose name matches `--skip` are left out. `--at` tries only the mutants of that place.
 * Exits with 1 when a file's own tests fail without any change.
 */
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { relative, resolve } from "node:path"
import { parseArgs } from "node:util"
import { apply, type Mutant, mutantsOf } from "./mutants.ts"
import { importWith } from "./sandbox.ts"
import { takeTests } from "./suite.ts"

const root = resolve(import.meta.dirname, "../../..")
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string", default: "50" },
    again: { type: "string", default: "1000" },
    skip: { type: "string", default: "" },
    at: { type: "string", multiple: true, default: [] },
    test: { type: "string", multiple: true, default: [] }
  }
})

const skipped = values.skip === "" ? undefined : new RegExp(values.skip)

const filesOf = (argument: string): ReadonlyArray<string> => {
  const path = resolve(argument)
  return statSync(path).isDirectory()
    ? globSync("**/*.ts", { cwd: path })
        .map((file) => resolve(path, file))
        .toSorted()
    : [path]
}

/** The test beside a file, and every other test of its package that imports it by name. */
const testsOf = (file: string): ReadonlyArray<string> => {
  const [, name = "", module = ""] = /packages\/(\w+)\/src\/(.+)\.ts$/.exec(file) ?? []
  const folder = resolve(root, "packages", name, "test")
  const own = resolve(folder, `${module}.test.ts`)
  const others = globSync("**/*.test.ts", { cwd: folder })
    .map((test) => resolve(folder, test))
    .filter((test) => test !== own && readFileSync(test, "utf8").includes(`"@catenet/${name}/${module}"`))
  const named = values.test.map((test) => resolve(test))
  return [...new Set([...(existsSync(own) ? [own] : []), ...others.toSorted(), ...named])]
}

/** The name of the first test that fails, the quickest first, or undefined when all of the `wanted` pass. */
const firstFailure = async (
  wanted: "all" | "properties",
  tests: ReadonlyArray<string>,
  file: string,
  source: string,
  runs: string,
  limit: number,
  durations: Map<string, number>
): Promise<string | undefined> => {
  process.env["CATENET_PROPERTY_RUNS"] = runs
  try {
    await importWith(tests, file, source, limit)
  } catch {
    takeTests()
    return "import"
  }
  const quickestFirst = takeTests()
    .filter(({ name, property }) => skipped?.test(name) !== true && (wanted === "all" || property))
    .toSorted((x, y) => (durations.get(x.name) ?? 0) - (durations.get(y.name) ?? 0))
  for (const { name, run } of quickestFirst) {
    const start = performance.now()
    try {
      await run()
    } catch {
      return name
    }
    durations.set(name, performance.now() - start)
  }
  return undefined
}

const place = (source: string, { start }: Mutant) => {
  const lines = source.slice(0, start).split("\n")
  return `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
}

interface Score {
  readonly mutants: number
  readonly survivors: ReadonlyArray<string>
}

const score = async (file: string, tests: ReadonlyArray<string>): Promise<Score> => {
  const source = readFileSync(file, "utf8")
  const durations = new Map<string, number>()
  const begun = performance.now()
  const broken = await firstFailure("all", tests, file, source, values.runs, 120_000, durations)
  if (broken !== undefined) throw new Error(`${relative(root, file)}: "${broken}" fails without any change`)
  const limit = 5000 + 10 * (performance.now() - begun)
  const mutants = mutantsOf(source).filter(
    (mutant) => values.at.length === 0 || values.at.includes(place(source, mutant))
  )
  const survivors: Array<string> = []
  for (const mutant of mutants) {
    const text = apply(source, mutant)
    const noticed =
      (await firstFailure("all", tests, file, text, values.runs, limit, durations)) ??
      (await firstFailure("properties", tests, file, text, values.again, 20 * limit, durations))
    const original = source.slice(mutant.start, mutant.end)
    if (noticed === undefined) survivors.push(`${place(source, mutant)}  ${original} -> ${mutant.text}`)
  }
  return { mutants: mutants.length, survivors }
}

const percent = ({ mutants, survivors }: Score) => `${(((mutants - survivors.length) / mutants) * 100).toFixed(1)} %`
const print = (line: string) => process.stdout.write(`${line}\n`)

const total = { mutants: 0, survivors: new Array<string>() }
for (const file of (positionals.length > 0 ? positionals : [resolve(root, "packages/domain/src")]).flatMap(filesOf)) {
  const begun = performance.now()
  const tests = testsOf(file)
  if (tests.length === 0) {
    print(`${relative(root, file)}  no test imports it`)
    continue
  }
  const found = await score(file, tests)
  if (found.mutants === 0) continue
  const seconds = ((performance.now() - begun) / 1000).toFixed(0)
  const killed = found.mutants - found.survivors.length
  print(`${relative(root, file)}  ${killed} of ${found.mutants} killed, ${percent(found)}, ${seconds} s`)
  for (const survivor of found.survivors) print(`    ${survivor}`)
  total.mutants += found.mutants
  total.survivors.push(...found.survivors)
}
if (total.mutants > 0)
  print(`all  ${total.mutants - total.survivors.length} of ${total.mutants} killed, ${percent(total)}`)
