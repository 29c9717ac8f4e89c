/** The host name that the platform gives a tunnel, made of its name, its owner and the zone of the deployment. */

const longestLabel = 40

/**
 * The first part: the name in lower case, with one `-` for every run of other characters than a-z and 0-9, none at the ends,
 * at most 40 characters. A name without any such character becomes `tunnel`.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { labelOf } from "@catenet/domain/tunnels/HostnameDerivation"
 *
 * assert.equal(labelOf("My Camera (2)!"), "my-camera-2")
 * assert.equal(labelOf("猫"), "tunnel")
 * ```
 */
export const labelOf = (name: string): string => {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ["tunnel"]
  return words.join("-").slice(0, longestLabel)
}

/**
 * `<label>-<suffix>.<zone>`. `subjectDigest` is the SHA-256 of the owner's subject in hex, of which the first eight digits are
 * used: the same owner and name give the same host name.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { derive } from "@catenet/domain/tunnels/HostnameDerivation"
 *
 * assert.equal(derive("Camera", "0123456789abcdef", "example.net"), "camera-01234567.example.net")
 * ```
 */
export const derive = (name: string, subjectDigest: string, zone: string): string =>
  `${labelOf(name)}-${subjectDigest.slice(0, 8)}.${zone}`
