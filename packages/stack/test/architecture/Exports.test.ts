/** What a package lets others import: each entry of its manifest names one module, and what is internal has none. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { root, sourceFiles } from "./Imports.ts"

/** Packages whose manifests list their modules one by one. */
const listed = ["crypto", "wire"]

describe.each(listed)("the manifest of %s", (name) => {
  const folder = join(root, "packages", name)
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string>>
  }

  it("has an entry for each public module, named after its file", () => {
    for (const [entry, path] of Object.entries(exports)) {
      assert.strictEqual(path, entry.replace("./", "./src/") + ".ts")
      assert.isTrue(existsSync(join(folder, path)), path)
    }
  })

  it("has no entry for a module that is marked as internal, and marks every other one", () => {
    const open = new Set(Object.values(exports).map((path) => join("packages", name, path)))
    for (const file of sourceFiles(name)) {
      const internal = /^\/\*\*(?:(?!\*\/)[\s\S])*@internal/.test(readFileSync(join(root, file), "utf8"))
      assert.strictEqual(open.has(file), !internal, file)
    }
  })
})
