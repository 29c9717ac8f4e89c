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
 * import * as ReleaseVersion from "@catenet/crypto/release/ReleaseVersion"
 *
 * ok(ReleaseVersion.isNewer("v1.10.0", "1.9.9") && !ReleaseVersion.isNewer("1.2.3-rc1", "1.2.3"))
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
