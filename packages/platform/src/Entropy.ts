/** Random bytes and ids that nobody can guess. A seam (see `Seam`). */
import { randomBytes, randomUUID } from "node:crypto"

export interface Entropy {
  readonly randomBytes: (length: number) => Buffer<ArrayBuffer>
  readonly randomUUID: () => `${string}-${string}-${string}-${string}-${string}`
}

export const Entropy: Entropy = {
  randomBytes: (length) => randomBytes(length),
  randomUUID: () => randomUUID()
}
