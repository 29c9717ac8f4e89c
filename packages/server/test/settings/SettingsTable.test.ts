import * as Documentation from "@catenet/platform/Documentation"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { variables } from "../../src/settings/Settings.ts"

const guide = join(import.meta.dirname, "../../../../docs/operations.md")
const between = /(<!-- configuration of the control plane -->\n)[\s\S]*?(\n<!-- end of configuration -->)/

describe("the configuration table", () => {
  it("stands in the operations guide as the code has it (UPDATE_DOCS=1 writes it)", () => {
    const text = readFileSync(guide, "utf8")
    assert.match(text, between)
    const wanted = text.replace(
      between,
      (_, before: string, after: string) => `${before}\n${Documentation.table(variables)}\n${after}`
    )
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(guide, wanted)
    assert.strictEqual(process.env["UPDATE_DOCS"] === "1" ? wanted : text, wanted)
  })

  it("names every variable once", () => {
    const names = Object.values(variables).map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
  })
})
