/** What is installed is what the lock files say, in every folder that npm installs into. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { root } from "./Imports.ts"

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly optional?: boolean
  readonly os?: ReadonlyArray<string>
  readonly funding?: unknown
}

const read = (path: string) => readFileSync(join(root, path), "utf8")
const entriesOf = (lock: string) =>
  Object.entries((JSON.parse(read(lock)) as { packages: Record<string, Locked> }).packages)

const folders = ["", ...globSync("tools/*/package.json", { cwd: root }).map(dirname)]
const locks = folders.map((folder) => join(folder, "package-lock.json"))

describe("every folder that npm installs into", () => {
  it("has a lock file, which is committed", () => {
    assert.isAbove(folders.length, 2)
    assert.deepStrictEqual(
      locks.filter((lock) => !existsSync(join(root, lock))),
      []
    )
    assert.notMatch(read(".gitignore"), /package-lock/)
  })

  it("names no host to download from", () => {
    for (const lock of locks)
      for (const [name, { funding: _, ...entry }] of entriesOf(lock)) {
        assert.notMatch(JSON.stringify(entry), /:\/\/|\bregistry/, `${lock}: ${name}`)
        assert.isTrue(entry.resolved === undefined || entry.link, `${lock}: ${name} is taken from ${entry.resolved}`)
      }
    for (const folder of folders)
      assert.include(read(join(folder, ".npmrc")), "omit-lockfile-registry-resolved=true", folder)
  })

  it("pins the digest of every package, those of the linters for rarer platforms apart", () => {
    for (const lock of locks)
      for (const [name, entry] of entriesOf(lock)) {
        if (!name.includes("node_modules/") || entry.link) continue
        assert.match(entry.version ?? "", /^\d+\.\d+\.\d+/, `${lock}: ${name}`)
        const tested = /linux-(?:x64|arm64)(?:-gnu)?$/.test(name)
        const elsewhere = lock.startsWith("tools/lint/") && entry.optional === true && entry.os?.length === 1 && !tested
        if (!elsewhere || entry.integrity !== undefined)
          assert.match(entry.integrity ?? "none", /^sha512-/, `${lock}: ${name}`)
      }
  })

  it("is locked at the versions that its package.json names, each platform's package among them", () => {
    for (const folder of folders.slice(1)) {
      const { dependencies, devDependencies } = JSON.parse(read(join(folder, "package.json"))) as Record<
        string,
        Record<string, string> | undefined
      >
      const locked = new Map(entriesOf(join(folder, "package-lock.json")))
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
        assert.strictEqual(locked.get(`node_modules/${name}`)?.version, version, name)
      for (const entry of locked.values()) {
        const { optionalDependencies } = entry as { optionalDependencies?: Record<string, string> }
        for (const name of Object.keys(optionalDependencies ?? {}))
          assert.isTrue(locked.has(`node_modules/${name}`), `${folder}: npm ci refuses the lock without ${name}`)
      }
    }
  })

  it("is installed from its lock file", () => {
    const programs = [
      ...globSync("scripts/*.mjs", { cwd: root }),
      ...globSync("packages/*/bench/**/*.ts", { cwd: root })
    ]
    for (const program of programs)
      assert.notMatch(read(program), /"install",|npm(?:\.cmd)? (?:i|install)\b|no-package-lock/, program)
    assert.include(read("scripts/install.mjs"), 'npm(["ci"')
    for (const folder of folders.slice(1))
      assert.include(
        read("scripts/install.mjs"),
        `join(root, ${folder
          .split("/")
          .map((part) => `"${part}"`)
          .join(", ")})`
      )
  })
})
