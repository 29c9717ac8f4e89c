/** Password hashes at rest: scrypt with a salt of its own for each password (RFC 7914). */
import { Entropy } from "@catenet/platform/Entropy"
import { scrypt, scryptSync, timingSafeEqual } from "node:crypto"
import { promisify } from "node:util"

const deriveBeside = promisify<string, Buffer, number, Buffer>(scrypt)
const derive = (password: string, salt: Buffer) => scryptSync(password, salt, 32)

/** `scrypt$<salt>$<key>`. */
export const hash = (password: string): string => {
  const salt = Entropy.randomBytes(16)
  return `scrypt$${salt.toString("base64url")}$${derive(password, salt).toString("base64url")}`
}

const read = (stored: string | undefined) => {
  const [, salt = "AAAAAAAAAAAAAAAAAAAAAA", key = ""] = stored?.split("$") ?? []
  const expected = Buffer.alloc(32)
  Buffer.from(key, "base64url").copy(expected)
  return { salt: Buffer.from(salt, "base64url"), expected }
}

/** For the start of a realm, which serves nobody yet. */
export const matchesSync = (password: string, stored: string): boolean => {
  const { expected, salt } = read(stored)
  return timingSafeEqual(derive(password, salt), expected)
}

/** On another thread, as it takes a twentieth of a second. Does the same work for an unknown user, whose hash is `undefined`. */
export const matches = async (password: string, stored: string | undefined): Promise<boolean> => {
  const { expected, salt } = read(stored)
  return timingSafeEqual(await deriveBeside(password, salt, 32), expected) && stored !== undefined
}
