/**
 * What a package lets others import: each entry of its manifest names one module, or the modules of one area, and what is
 * internal has none.
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { importsOf, root, sourceFiles } from "./Imports.ts"

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

const packages = ["agent", "crypto", "domain", "edge", "idp", "platform", "server", "stack", "wire"]

/** Modules of a package that others import, as entries of its manifest. */
const usedOf = (name: string) => {
  const users = packages
    .filter((user) => user !== name)
    .flatMap((user) =>
      globSync(["src/**/*.ts", "test/**/*.ts", "bench/**/*.ts"], { cwd: join(root, "packages", user) }).flatMap(
        (path) => importsOf(join("packages", user, path))
      )
    )
  const used = users.map(({ specifier }) => specifier).filter((specifier) => specifier.startsWith(`@catenet/${name}/`))
  return new Set(used.map((specifier) => specifier.replace(`@catenet/${name}`, ".")))
}

describe.each(["agent", "edge", "idp", "platform", "server"])("the manifest of %s", (name) => {
  const folder = join(root, "packages", name)
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | null>>
  }

  it("names the modules that other packages import, and no other", () => {
    const open = Object.keys(exports).filter((entry) => /^\.\/(?!internal\/)/.test(entry))
    assert.sameMembers(open, [...usedOf(name)])
    for (const entry of open) assert.isTrue(existsSync(join(folder, exports[entry] ?? "")), entry)
  })
})

describe("the manifest of domain", () => {
  const { exports } = JSON.parse(readFileSync(join(root, "packages/domain/package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | null>>
  }

  it("has an entry for each area", () => {
    const areas = new Set(
      sourceFiles("domain").map((file) => file.replace(/^packages\/domain\/src\/([^/]+)\/.*$/, "$1"))
    )
    assert.deepStrictEqual(exports, {
      ...Object.fromEntries(Array.from(areas, (area) => [`./${area}/*`, `./src/${area}/*.ts`])),
      "./internal/*": null
    })
  })
})
