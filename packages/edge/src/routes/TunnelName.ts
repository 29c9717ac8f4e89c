/**
 * The name of a tunnel in the session history: the SHA-256 of its token's 32 bytes, so that the history does not reveal tokens.
 */
import { createHash } from "node:crypto"

/** `token` is 64 hex digits; so is the name. */
export const tunnelName = (token: string): string => createHash("sha256").update(token, "hex").digest("hex")
