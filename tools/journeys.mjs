/**
 * Prints the files that a reader of docs/architecture.md passes through in each of its first five journeys: those that the page names,
 * and those between them along imports. A file that no import leads to is reached over a connection, or is called back. Then the
 * number of source files, of their lines and of the lines of tests. `--counts` prints the numbers alone.
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..")
const read = (file) => readFileSync(join(root, file), "utf8")
const filesOf = (kind) => globSync(`packages/*/${kind}/**/*.{ts,mts,mjs}`, { cwd: root })
const most = 20

const sources = filesOf("src")
const specifier = /(?:^|\n)\s*(?:import|export)\s[^"';]*?\sfrom\s+"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/g

/** The file of this workspace that an import means, or `undefined` for a library. */
const targetOf = (file, text) => {
  if (text.startsWith(".")) return relative(root, resolve(root, dirname(file), text))
  const [, name, path] = /^@catenet\/([^/]+)\/(?:internal\/)?(.+)$/.exec(text) ?? []
  return name === undefined ? undefined : join("packages", name, "src", `${path}.ts`)
}
const imports = new Map(
  sources.map((file) => [
    file,
    Array.from(read(file).matchAll(specifier), ([, by, lazily]) => targetOf(file, by ?? lazily)).filter(Boolean)
  ])
)

/** The shortest way along imports, without its beginning; `undefined` where there is none. */
const wayTo = (from, to) => {
  const before = new Map([[from, undefined]])
  for (const file of before.keys())
    for (const next of imports.get(file) ?? []) if (!before.has(next)) before.set(next, file)
  if (!before.has(to)) return undefined
  const way = []
  for (let at = to; at !== from; at = before.get(at)) way.unshift(at)
  return way
}

const page = read("docs/architecture.md")
const journeys = Array.from(page.matchAll(/^## (.+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm), ([, title, text]) => ({
  title,
  named: Array.from(text.matchAll(/`([a-z]+\/[\w/.]+\.ts)`/g), ([, path]) =>
    path.replace(/^([a-z]+)\//, "packages/$1/src/")
  ).filter((file, place, all) => all.indexOf(file) === place)
})).slice(0, 5)

/** In the order of the page. A file is reached from the named one before it that is closest, forwards or backwards. */
const passed = ({ named }) => {
  const files = new Map()
  for (const [place, file] of named.entries()) {
    const ways = named.slice(0, place).flatMap((earlier) => {
      const [forwards, backwards] = [wayTo(earlier, file), wayTo(file, earlier)]
      const back = backwards && [...backwards.slice(0, -1).toReversed(), file]
      return [forwards, back].filter(Boolean)
    })
    const [shortest] = ways.toSorted((a, b) => a.length - b.length)
    for (const between of shortest?.slice(0, -1) ?? []) if (!files.has(between)) files.set(between, "between")
    if (!files.has(file) || files.get(file) === "between")
      files.set(file, place > 0 && shortest === undefined ? "connection" : "named")
  }
  return files
}

const print = (line) => process.stdout.write(`${line}\n`)
const isBrief = process.argv.includes("--counts")
const marks = { named: " ", between: "+", connection: ">" }
let isWrong = false
for (const journey of journeys) {
  const files = passed(journey)
  const missing = journey.named.filter((file) => !existsSync(join(root, file)))
  isWrong ||= missing.length > 0
  print(`${journey.title}: ${files.size} files${files.size > most ? `, more than ${most}` : ""}`)
  if (!isBrief)
    for (const [file, how] of files) print(` ${marks[how]} ${file.replace("packages/", "").replace("/src/", "/")}`)
  for (const file of missing) print(` ! ${file} does not exist`)
}

const linesOf = (files) => files.reduce((sum, file) => sum + read(file).split("\n").length - 1, 0)
const tests = [...filesOf("test"), ...sources.filter((file) => file.startsWith("packages/testing/"))]
const programs = sources.filter((file) => !file.startsWith("packages/testing/") && !file.includes(".generated."))
print(
  `${programs.length} source files with ${linesOf(programs)} lines; ${tests.length} files of tests with ${linesOf(tests)} lines`
)
process.exitCode = isWrong ? 1 : 0
