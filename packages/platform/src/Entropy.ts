/** Random bytes, ids and keys that nobody can guess. A seam (see `Seam`). */
import { generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from "node:crypto"

export interface Entropy {
  readonly randomBytes: (length: number) => Buffer<ArrayBuffer>
  readonly randomUUID: () => `${string}-${string}-${string}-${string}-${string}`
  /** A private key on the curve P-256. */
  readonly newEcKey: () => KeyObject
}

export const Entropy: Entropy = {
  randomBytes: (length) => randomBytes(length),
  randomUUID: () => randomUUID(),
  newEcKey: () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
}
