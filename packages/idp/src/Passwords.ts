/** Password hashes at rest: scrypt with a salt of its own for each password (RFC 7914). */
import { Entropy } from "@catenet/platform/Entropy"
import { scryptSync, timingSafeEqual } from "node:crypto"

const derive = (password: string, salt: Buffer) => scryptSync(password, salt, 32)

/** `scrypt$<salt>$<key>`. */
export const hash = (password: string): string => {
  const salt = Entropy.randomBytes(16)
  return `scrypt$${salt.toString("base64url")}$${derive(password, salt).toString("base64url")}`
}

/** Does the same work for an unknown user, whose hash is `undefined`. */
export const matches = (password: string, stored: string | undefined): boolean => {
  const [, salt = "AAAAAAAAAAAAAAAAAAAAAA", key = ""] = stored?.split("$") ?? []
  const expected = Buffer.alloc(32)
  Buffer.from(key, "base64url").copy(expected)
  return timingSafeEqual(derive(password, Buffer.from(salt, "base64url")), expected) && stored !== undefined
}
