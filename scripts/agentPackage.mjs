/**
 * Puts the agent of this checkout, as npm takes it, into a folder of releases, for a control plane to serve: `agent.tgz` below the
 * agent's version. What was made of the same sources stays. A version appears at once and whole, by a rename.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { root } from "./node.mjs"
import { pack } from "./pack.mjs"

/** What the package is made of. */
const sources = [
  "package-lock.json",
  "scripts/{agentPackage,build,node,pack}.mjs",
  "packages/agent/package.json",
  "packages/{agent,config,crypto,domain,wire}/src/**/*.ts"
]

const fingerprint = () => {
  const hash = createHash("sha256")
  for (const file of globSync(sources, { cwd: root }).sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0")
  return hash.digest("hex")
}

const run = (command, args, cwd) => {
  const { error, status } = spawnSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] })
  if (error !== undefined || status !== 0) throw new Error(`${command} ${args.join(" ")} failed in ${cwd}`)
}

const [option, releases] = process.argv.slice(2)
if (option !== "--releases" || releases === undefined) {
  process.stderr.write("Write the folder of the releases: --releases FOLDER\n")
  process.exit(2)
}
const folder = resolve(releases)
mkdirSync(folder, { recursive: true })
// Left by a build that was killed. One stack has one such folder.
for (const name of readdirSync(folder))
  if (name.startsWith(".")) rmSync(join(folder, name), { recursive: true, force: true })

const { version } = JSON.parse(readFileSync(join(root, "packages", "agent", "package.json"), "utf8"))
const place = join(folder, version)
const made = fingerprint()
const mark = join(place, ".sources")
if (!existsSync(mark) || readFileSync(mark, "utf8") !== made) {
  const work = join(folder, ".building")
  run(process.execPath, [join(root, "scripts", "build.mjs"), "--out", join(work, "built"), "ct-agent"], root)
  const next = join(work, version)
  pack(join(work, "built", "ct-agent"), next)
  writeFileSync(join(next, ".sources"), made)
  if (existsSync(place)) renameSync(place, join(work, "before"))
  renameSync(next, place)
  rmSync(work, { recursive: true, force: true })
}
