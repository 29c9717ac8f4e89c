/** The names of a release's agent binaries (section 15.1). */

/** The order of release tags (section 15.1). */
const parts = (tag: string): ReadonlyArray<bigint> =>
  tag
    .replace(/^v/, "")
    .split(".")
    .map((part) => (/^\d{1,20}$/.test(part) ? BigInt(part) : 0n))

/**
 * Whether the offered tag is newer than the running version: numbers between dots, one leading `v` apart; a part that is
 * no number counts as 0; of two with an equal start the longer one is newer.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Asset from "@catenet/crypto/release/Asset"
 *
 * ok(Asset.isNewer("v1.10.0", "1.9.9") && !Asset.isNewer("1.2.3-rc1", "1.2.3"))
 * ```
 */
export const isNewer = (offered: string, running: string): boolean => {
  const [theirs, ours] = [parts(offered), parts(running)]
  for (const [i, part] of theirs.entries()) {
    const own = ours[i]
    if (own === undefined) return true
    if (part !== own) return part > own
  }
  return false
}

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
