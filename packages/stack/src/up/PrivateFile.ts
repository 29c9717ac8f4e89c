/** Writes files that hold secrets: readable by their owner only, and whole or not at all. */
import { Entropy } from "@catenet/platform/Entropy"
import { Files } from "@catenet/platform/Files"

export const write = (path: string, content: string | Uint8Array): void => {
  const next = `${path}.${Entropy.randomBytes(6).toString("hex")}.new`
  try {
    Files.writeFileSync(next, content, { mode: 0o600, flag: "wx", flush: true })
    Files.renameSync(next, path)
  } catch (cause) {
    Files.rmSync(next, { force: true })
    throw cause
  }
}
