/** Packs a built package as npm takes it. */
import { spawnSync } from "node:child_process"
import { mkdirSync, renameSync } from "node:fs"
import { join } from "node:path"

/** Writes `agent.tgz` of what `build.mjs` has built; the same files give the same bytes. */
export const pack = (folder, to) => {
  mkdirSync(to, { recursive: true })
  const npm = process.platform === "win32" ? "npm.cmd" : "npm"
  const { status, stdout } = spawnSync(npm, ["pack", "--silent", "--ignore-scripts", "--pack-destination", to], {
    cwd: folder,
    encoding: "utf8",
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "inherit"]
  })
  if (status !== 0) throw new Error(`npm pack failed in ${folder}`)
  renameSync(join(to, stdout.trim()), join(to, "agent.tgz"))
}
