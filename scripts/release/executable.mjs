/** The agent as one file that brings Node along, made by Node's own means of a bundle and the Node of another system or this one. */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { findNode } from "../node.mjs"

export const sha256 = (path) => createHash("sha256").update(readFileSync(path)).digest("hex")

/** Writes the program, and its checksum file beside it. */
export const make = (bundle, node, output) => {
  const config = `${output}.sea.json`
  // A snapshot or a cache of code would be of the Node that builds, not of the one that runs.
  const options = { disableExperimentalSEAWarning: true, useSnapshot: false, useCodeCache: false }
  writeFileSync(
    config,
    JSON.stringify({ main: basename(bundle), mainFormat: "module", executable: node, output, ...options })
  )
  const { status } = spawnSync(findNode(), [`--build-sea=${config}`], {
    // The program holds the path by which it was named here; a relative one is the same in every folder.
    cwd: dirname(bundle),
    stdio: ["ignore", "ignore", "inherit"]
  })
  rmSync(config)
  if (status !== 0) throw new Error(`${output} cannot be made`)
  chmodSync(output, 0o755)
}

export const writeChecksum = (folder, asset) =>
  writeFileSync(join(folder, `${asset}.sha256`), `${sha256(join(folder, asset))}  ${asset}\n`)
