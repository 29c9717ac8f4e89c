/** Runs a program of this workspace from its sources, on a Node that can: in this process when it is new enough, else on another. */
import { fileURLToPath } from "node:url"
import { exec } from "./exec.mjs"
import { findNode } from "./node.mjs"

export const launch = async (entry) => {
  const node = findNode()
  if (node === process.execPath) {
    process.argv[1] = fileURLToPath(entry)
    await import(entry.href)
  } else exec(node, fileURLToPath(entry), process.argv.slice(2))
}
