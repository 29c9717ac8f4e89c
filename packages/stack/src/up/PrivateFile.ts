/** Writes files that hold secrets: readable by their owner only, and whole or not at all. */
import { randomBytes } from "node:crypto"
import { renameSync, rmSync, writeFileSync } from "node:fs"

export const write = (path: string, content: string | Uint8Array): void => {
  const next = `${path}.${randomBytes(6).toString("hex")}.new`
  try {
    writeFileSync(next, content, { mode: 0o600, flag: "wx", flush: true })
    renameSync(next, path)
  } catch (cause) {
    rmSync(next, { force: true })
    throw cause
  }
}
