/** Runs a program of this workspace from its sources, on a Node that can: in this process when it is new enough, else in a child. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { findNode } from "./node.mjs"

export const launch = async (entry) => {
  const node = findNode()
  if (node === process.execPath) {
    process.argv[1] = fileURLToPath(entry)
    await import(entry.href)
    return
  }
  const child = spawn(node, [fileURLToPath(entry), ...process.argv.slice(2)], { stdio: "inherit" })
  process.on("SIGINT", () => {})
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)))
}
