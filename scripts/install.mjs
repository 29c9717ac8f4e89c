/**
 * Installs exactly what the lock files name, when it is missing or the lock file has changed since. The lock files name no
 * registry: each user's own answers, and what it sends must have the digest of the lock.
 */
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

const packagesOf = (file) => JSON.parse(readFileSync(file, "utf8")).packages

/** Whether npm itself has installed what the lock file names: `npm ci` leaves a list of it. What is optional may be absent. */
const isInstalled = (folder) => {
  const list = join(folder, "node_modules", ".package-lock.json")
  if (!existsSync(list)) return false
  const there = packagesOf(list)
  return Object.entries(packagesOf(join(folder, "package-lock.json"))).every(([path, wanted]) => {
    if (!path.includes("node_modules/")) return true
    const found = there[path]
    if (found === undefined) return wanted.optional === true
    return wanted.link === true ? found.link === true : found.integrity === wanted.integrity
  })
}

const current = (folder) => {
  const marker = join(folder, "node_modules", ".catenet-installed")
  const digest = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex")
  return {
    fresh: existsSync(marker) && readFileSync(marker, "utf8") === digest,
    done: () => writeFileSync(marker, digest)
  }
}

const install = (folder, what) => {
  const state = current(folder)
  if (state.fresh) return
  if (!isInstalled(folder)) {
    process.stderr.write(`Installing ${what} ...\n`)
    npm(["ci", "--no-audit", "--no-fund", "--loglevel=error"], folder)
  }
  state.done()
}

export const installDependencies = () => install(root, "the pinned dependencies")

export const installLinters = () => install(join(root, "tools", "lint"), "the linters")

export const installBenchDriver = () => install(join(root, "tools", "bench"), "the driver of the bare server")

export const installOpenApiTools = () => install(join(root, "tools", "openapi"), "the readers of API descriptions")

export const installMcpPrograms = () => install(join(root, "tools", "mcp"), "programs of other makers that speak MCP")

export const installGrpc = () => install(join(root, "tools", "grpc"), "gRPC of its own project")

export const installSbomTools = () => install(join(root, "tools", "sbom"), "the writer of bills of materials")
