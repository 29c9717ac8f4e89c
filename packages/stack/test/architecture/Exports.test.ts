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
      // What only the QUIC process and its two ends use.
      if (file.startsWith("packages/wire/src/quic/") && !open.has(file)) continue
      const internal = /^\/\*\*(?:(?!\*\/)[\s\S])*@internal/.test(readFileSync(join(root, file), "utf8"))
      assert.strictEqual(open.has(file), !internal, file)
    }
  })
})

const packages = ["agent", "crypto", "domain", "edge", "idp", "platform", "proxy", "server", "stack", "testing", "wire"]

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

describe.each(["idp", "platform"])("the manifest of %s", (name) => {
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

/** What programs of others import; all else is for siblings, below `./internal/`. */
const libraries = {
  agent: { ".": "./src/Library.ts", "./promise": "./src/promise.ts" },
  edge: { ".": "./src/Library.ts" },
  server: { ".": "./src/ControlPlane.ts" }
}

describe.each(Object.entries(libraries))("the manifest of %s", (name, entries) => {
  it("lists the library's entries, and the modules for siblings below ./internal", () => {
    const { exports } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")) as {
      readonly exports: Readonly<Record<string, string>>
    }
    assert.deepStrictEqual(exports, { ...entries, "./internal/*": "./src/*.ts" })
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
