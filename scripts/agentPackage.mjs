/**
 * Puts the agent of this checkout into a folder of releases, for a control plane to serve: the npm package, and the program for
 * this system, signed by the key that CATENET_RELEASE_SEED has. What was made of the same sources stays. A version appears at once
 * and whole, by a rename.
 */
import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { root } from "./node.mjs"
import { pack } from "./pack.mjs"
import { buildAgent } from "./release/bundle.mjs"
import * as executable from "./release/executable.mjs"
import * as key from "./release/key.mjs"
import * as manifest from "./release/manifest.mjs"
import * as nodes from "./release/nodes.mjs"

/** What the package is made of. */
const sources = [
  "package-lock.json",
  "scripts/{agentPackage,build,node,pack}.mjs",
  "scripts/release/*.mjs",
  "packages/agent/package.json",
  "packages/{agent,crypto,domain,platform,proxy,wire}/src/**/*.ts"
]

const fingerprint = (...more) => {
  const hash = createHash("sha256").update(more.join("\0"))
  for (const file of globSync(sources, { cwd: root }).sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0")
  return hash.digest("hex")
}

const [option, releases] = process.argv.slice(2)
const seed = process.env.CATENET_RELEASE_SEED
if (option !== "--releases" || releases === undefined || seed === undefined) {
  process.stderr.write("Write the folder of the releases, --releases FOLDER, and set CATENET_RELEASE_SEED.\n")
  process.exit(2)
}
const folder = resolve(releases)
mkdirSync(folder, { recursive: true })
// Left by a build that was killed. One stack has one such folder.
for (const name of readdirSync(folder))
  if (name.startsWith(".")) rmSync(join(folder, name), { recursive: true, force: true })

const { version } = JSON.parse(readFileSync(join(root, "packages", "agent", "package.json"), "utf8"))
const place = join(folder, version)
const keys = key.publicKeyOf(seed)
const made = fingerprint(keys)
const mark = join(place, ".sources")
if (!existsSync(mark) || readFileSync(mark, "utf8") !== made) {
  const work = join(folder, ".building")
  const built = buildAgent(work, keys)
  const next = join(work, version)
  pack(built, next)
  if (nodes.local !== undefined) {
    const { asset } = nodes.local
    executable.make(join(built, "program.js"), nodes.binaryOf(nodes.local), join(next, asset))
    executable.writeChecksum(next, asset)
  }
  manifest.write(next, version, seed, Math.floor(Date.now() / 1000))
  writeFileSync(join(next, ".sources"), made)
  if (existsSync(place)) renameSync(place, join(work, "before"))
  renameSync(next, place)
  rmSync(work, { recursive: true, force: true })
}
