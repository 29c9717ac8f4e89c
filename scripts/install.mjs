/** Installs the pinned dependencies when they are missing or the lock file has changed since. */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./node.mjs"

const npm = (args, cwd) => {
  const { status } = spawnSync(process.platform === "win32" ? "npm.cmd" : "npm", args, {
    cwd,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32"
  })
  if (status !== 0) {
    process.stderr.write(`npm ${args.join(" ")} failed in ${cwd}; its own message is above.\n`)
    process.exit(status ?? 1)
  }
}

const current = (folder, lock) => {
  const marker = join(folder, "node_modules", ".catenet-installed")
  const digest = createHash("sha256")
    .update(readFileSync(join(folder, lock)))
    .digest("hex")
  return {
    fresh: existsSync(marker) && readFileSync(marker, "utf8") === digest,
    done: () => writeFileSync(marker, digest)
  }
}

const install = (folder, lock, args, what) => {
  const state = current(folder, lock)
  if (state.fresh) return
  process.stderr.write(`Installing ${what} ...\n`)
  npm(args, folder)
  state.done()
}

export const installDependencies = () =>
  install(root, "package-lock.json", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], "the pinned dependencies")

export const installLinters = () =>
  install(
    join(root, "tools", "lint"),
    "package.json",
    ["install", "--no-audit", "--no-fund", "--loglevel=error"],
    "the linters"
  )
