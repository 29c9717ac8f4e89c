/**
 * Password hashes at rest: Argon2id (RFC 9106) with 19 MiB and two passes, and a salt of its own for each password. Hashes
 * that were made by scrypt are still read.
 */
import { Entropy } from "@catenet/platform/Entropy"
import { argon2, argon2Sync, scrypt, scryptSync, timingSafeEqual } from "node:crypto"
import { promisify } from "node:util"

const algorithm = "argon2id"
const length = 32

const parameters = (password: string, nonce: Buffer) => ({
  message: Buffer.from(password),
  nonce,
  parallelism: 1,
  tagLength: length,
  memory: 19_456,
  passes: 2
})

const deriveBeside = promisify(argon2)
const scryptBeside = promisify<string, Buffer, number, Buffer>(scrypt)

/** `argon2id$<salt>$<key>`. */
export const hash = (password: string): string => {
  const salt = Entropy.randomBytes(16)
  const key = argon2Sync(algorithm, parameters(password, salt))
  return `${algorithm}$${salt.toString("base64url")}$${key.toString("base64url")}`
}

/** Whether it was made as `hash` makes them today. */
export const isCurrent = (stored: string): boolean => stored.startsWith(`${algorithm}$`)

const read = (stored: string | undefined) => {
  const [made = algorithm, salt = "AAAAAAAAAAAAAAAAAAAAAA", key = ""] = stored?.split("$") ?? []
  const expected = Buffer.alloc(length)
  Buffer.from(key, "base64url").copy(expected)
  return { made, salt: Buffer.from(salt, "base64url"), expected }
}

/** For the start of a realm, which serves nobody yet. */
export const matchesSync = (password: string, stored: string): boolean => {
  const { expected, made, salt } = read(stored)
  const key = made === "scrypt" ? scryptSync(password, salt, length) : argon2Sync(algorithm, parameters(password, salt))
  return timingSafeEqual(key, expected)
}

/** On another thread, as it takes a twentieth of a second. Does the same work for an unknown user, whose hash is `undefined`. */
export const matches = async (password: string, stored: string | undefined): Promise<boolean> => {
  const { expected, made, salt } = read(stored)
  const key =
    made === "scrypt"
      ? await scryptBeside(password, salt, length)
      : await deriveBeside(algorithm, parameters(password, salt))
  return timingSafeEqual(key, expected) && stored !== undefined
}
