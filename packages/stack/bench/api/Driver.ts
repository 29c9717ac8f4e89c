/** The PostgreSQL driver that most people use, for the bare server. It is installed when it is asked for first. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = join(dirname(fileURLToPath(import.meta.url)), "../../../../tools/bench")

/** A file in the folder from which `pg` can be required. */
export const installed = (): string => {
  if (!existsSync(join(folder, "node_modules", "pg"))) {
    process.stderr.write("Installing the driver of the bare server ...\n")
    const { status } = spawnSync(
      "npm",
      ["install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"],
      {
        cwd: folder,
        stdio: ["ignore", "inherit", "inherit"],
        shell: process.platform === "win32"
      }
    )
    if (status !== 0) throw new Error(`npm install failed in ${folder}; its own message is above`)
  }
  return join(folder, "package.json")
}
