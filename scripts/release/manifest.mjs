/** The signed list of a release: compact JSON with sorted keys, and the signature of exactly those bytes. */
import { readdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { sha256 } from "./executable.mjs"
import { signed } from "./key.mjs"

/** Programs and packages; what only helps to check them is not listed. */
const isAsset = (name) => !/^\.|\.sha256$|^release-manifest\.|\.cdx\.json$/u.test(name)

export const write = (folder, version, seed, at) => {
  const names = readdirSync(folder).filter(isAsset).sort()
  const assets = Object.fromEntries(names.map((name) => [name, sha256(join(folder, name))]))
  const manifest = Buffer.from(JSON.stringify({ assets, created_at: at, schema: 1, tag: `v${version}` }))
  // The signature first: a manifest is never there without it.
  for (const [name, content] of [
    ["release-manifest.sig", `${signed(seed, manifest)}\n`],
    ["release-manifest.json", manifest]
  ]) {
    writeFileSync(join(folder, `.${name}.new`), content)
    renameSync(join(folder, `.${name}.new`), join(folder, name))
  }
}
