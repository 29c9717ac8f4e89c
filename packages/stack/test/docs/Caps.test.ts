/** The table of what is bounded names every cap of the domain, with its number. */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../../..")
const [, after = ""] = readFileSync(join(root, "docs/operations.md"), "utf8").split("## Limits")
const documented = new Map(
  (after.split("\n## ")[0] ?? "").split("\n").flatMap((line) => {
    const [, , most = "", constant = ""] = line.split("|").map((cell) => cell.trim())
    const [, name] = /^`(\w+)`$/.exec(constant) ?? []
    return name === undefined ? [] : [[name, most] as const]
  })
)

/** A number as the table has it: those of seconds in days. */
const written = (name: string, value: number) =>
  name.endsWith("Seconds") ? `${value / 86_400} days` : value.toLocaleString("en-US")

const isCap = (file: string, name: string) => file.endsWith("/Quotas.ts") || /^(?:most|max)[A-Z]/.test(name)
const files = globSync("packages/domain/src/**/*.ts", { cwd: root }).filter((file) =>
  /^export const (?:most|max)[A-Z]/m.test(readFileSync(join(root, file), "utf8"))
)
const caps = (
  await Promise.all(
    files.map(async (file) => {
      const module: Record<string, unknown> = await import(join(root, file))
      return Object.entries(module).flatMap(([name, value]) =>
        typeof value === "number" && isCap(file, name) ? [[name, value] as const] : []
      )
    })
  )
).flat()

describe("the table of what is bounded", () => {
  it("names the caps of the domain and nothing else", () => {
    assert.isAbove(caps.length, 20)
    assert.sameMembers(
      [...documented.keys()],
      caps.map(([name]) => name)
    )
  })

  it.each(caps)("has the number of %s", (name, value) => {
    const most = documented.get(name) ?? ""
    assert.isTrue(most.startsWith(written(name, value)), `${name}: ${most}`)
    assert.notMatch(most.slice(written(name, value).length), /^,?\d/)
  })
})
