/** The key of releases: an Ed25519 seed, 64 hex digits in a file that only its owner reads. */
import { createPrivateKey, createPublicKey, randomBytes, sign } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"

const keyOf = (seed) =>
  createPrivateKey({
    key: Buffer.from(`302e020100300506032b657004220420${seed}`, "hex"),
    format: "der",
    type: "pkcs8"
  })

/** The public key, 64 hex digits. */
export const publicKeyOf = (seed) =>
  createPublicKey(keyOf(seed)).export({ format: "der", type: "spki" }).subarray(-32).toString("hex")

export const signed = (seed, file) => sign(null, file, keyOf(seed)).toString("base64")

export const read = (path) => {
  const seed = readFileSync(path, "utf8").trim()
  if (!/^[0-9a-f]{64}$/u.test(seed)) throw new Error(`${path} has no release key: 64 hex digits are expected.`)
  return seed
}

/** Writes a new key, never over another one. */
export const generate = (path) => {
  const seed = randomBytes(32).toString("hex")
  writeFileSync(path, `${seed}\n`, { flag: "wx", mode: 0o600 })
  return seed
}
