/**
 * Tables of caps. Each cap on something that several parties share names the test in which one of them takes all it can and a second
 * one is served; each other one says why nobody shares it. A cap is a constant whose name says so, or a variable.
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const packages = join(import.meta.dirname, "../..")

const units = "Minute|Second|Address|Block|Tunnel|Account|Channel|Topology|Tenant|Session|Batch"
const constant = new RegExp(
  String.raw`^(?:export )?const ((?:max|most)[A-Z]\w*|atOnce|remembered|\w+Per(?:${units}))\b`,
  "gmu"
)

export interface Table {
  /** The package whose caps these are. */
  readonly of: string
  /** Where the caps are: patterns from the folder of all packages. */
  readonly sources: ReadonlyArray<string>
  /** Variables that are caps, in these sources. */
  readonly variables?: { readonly in: string; readonly named: RegExp }
  /**
   * A cap: the file of its test, and words of that test's title. It goes by its name, or by its file too where another cap has the
   * same name; the file is named from `src`, one of another package with its package.
   */
  readonly shared: Readonly<Record<string, readonly [file: string, title: string]>>
  /** Why caps are shared by nobody, or reached without a refusal, and which they are. */
  readonly own: Readonly<Record<string, ReadonlyArray<string>>>
}

const capsOf = ({ of, sources, variables }: Table): ReadonlyArray<string> => {
  const read = (pattern: string) =>
    globSync(pattern, { cwd: packages })
      .map((file) => file.replaceAll("\\", "/"))
      .map((file) => ({ file, text: readFileSync(join(packages, file), "utf8") }))
  const found = sources.flatMap(read).flatMap(({ file, text }) => {
    const [, owner = "", path = ""] = /^([^/]+)\/src\/(.+)\.ts$/u.exec(file) ?? []
    return Array.from(text.matchAll(constant), ([, name = ""]) => ({
      name,
      path: `${owner === of ? "" : `${owner}/`}${path}`
    }))
  })
  const isAlone = (name: string) => found.filter((cap) => cap.name === name).length === 1
  const constants = found.map(({ name, path }) => (isAlone(name) ? name : `${path} ${name}`))
  const named = variables && read(variables.in).flatMap(({ text }) => text.match(variables.named) ?? [])
  return [...new Set([...constants, ...(named ?? [])])]
}

/** The tests of a table: it and the sources agree, and each test that it names is there. */
export const holds = (table: Table): void => {
  const { of, own, shared } = table
  const caps = capsOf(table)
  const rows = [...Object.keys(shared), ...Object.values(own).flat()]

  describe(`fair shares of ${of}`, () => {
    it("every cap has a row, and every row a cap", () => {
      assert.deepStrictEqual(
        caps.filter((cap) => !rows.includes(cap)),
        [],
        "caps without a row"
      )
      assert.deepStrictEqual(
        rows.filter((row) => !caps.includes(row)),
        [],
        "rows without a cap"
      )
      assert.strictEqual(new Set(rows).size, rows.length, "one row for each cap")
    })

    it.each(Object.entries(shared))("%s has a test with a second party", (_, [file, title]) => {
      const [owner, path] = file.startsWith("../") ? file.slice("../".length).split(/\/(.*)/su) : [of, file]
      const source = readFileSync(join(packages, owner ?? "", `test/${path}.test.ts`), "utf8")
      assert.include(source, title)
    })
  })
}
