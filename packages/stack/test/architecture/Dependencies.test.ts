/** A package lists what it imports and nothing else: its sources decide the dependencies, its tests the development ones. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { importsOf, root } from "./Imports.ts"

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))

/** `@scope/name` or `name` of an import; undefined for files and for modules of Node. */
const packageOf = (specifier: string) => /^(?:@[\w.-]+\/)?(?!node:)[\w-][\w.-]*/.exec(specifier)?.[0]

/** The packages that some folders of a package import. */
const importedBy = (folder: string, kinds: ReadonlyArray<string>) =>
  new Set(
    kinds
      .flatMap((kind) => globSync(`${folder}/${kind}/**/*.ts`, { cwd: root }))
      .flatMap(importsOf)
      .flatMap(({ specifier }) => packageOf(specifier) ?? [])
  )

/** The root's own development dependencies serve every package. */
const shared = Object.keys(manifestOf("").devDependencies ?? {})

describe("the dependencies of a package", () => {
  it.each(globSync("packages/*", { cwd: root }))("%s: are what it imports", (folder) => {
    const { dependencies = {}, devDependencies = {} } = manifestOf(folder)
    const self = `@catenet/${folder.split("/").at(-1)}`
    const bySources = importedBy(folder, ["src"])
    const byTests = importedBy(folder, ["test", "bench", "mutation"])
    const outside = [...byTests].filter((name) => !bySources.has(name) && !shared.includes(name))
    assert.sameMembers(
      Object.keys(dependencies),
      [...bySources].filter((name) => name !== self)
    )
    assert.sameMembers(
      Object.keys(devDependencies).filter((name) => !name.startsWith("@types/")),
      outside.filter((name) => name !== self)
    )
    for (const types of Object.keys(devDependencies).filter((name) => name.startsWith("@types/")))
      assert.isTrue(new Set([...bySources, ...byTests]).has(types.slice("@types/".length)), types)
  })
})
