/** The names of a release's agent binaries (section 15.1). */

const systems = new Map([
  ["linux", "linux"],
  ["darwin", "darwin"],
  ["win32", "windows"]
])
const machines = new Map([
  ["x64", "x86_64"],
  ["arm64", "aarch64"],
  ["ia32", "i686"]
])

/**
 * The asset for a platform and machine as the runtime names them, or `undefined` where none is published.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Asset from "@catenet/crypto/release/Asset"
 *
 * strictEqual(Asset.nameFor("win32", "x64"), "ct-agent-windows-x86_64.exe")
 * strictEqual(Asset.nameFor("aix", "ppc64"), undefined)
 * ```
 */
export const nameFor = (platform: string, machine: string): string | undefined => {
  const [os, arch] = [systems.get(platform), machines.get(machine)]
  if (os === undefined || arch === undefined) return undefined
  return `ct-agent-${os}-${arch}${os === "windows" ? ".exe" : ""}`
}
