/** Parsers of keys in hex. */
import * as Hex from "@catenet/crypto/Hex"
import * as Parser from "@catenet/platform/Parser"
import { secretBytes } from "@catenet/platform/SecretParser"
import { Result } from "effect"

export const publicKey = Parser.make("64 hex digits", (text) => Result.getOrUndefined(Hex.decode(text, 32)))

/** Public keys between commas; none where there is nothing between them. */
export const publicKeys = Parser.make("64 hex digits each, separated by commas", (text) => {
  const keys = Parser.list.parse(text)?.map(publicKey.parse) ?? []
  const known = keys.filter((key) => key !== undefined)
  return known.length === keys.length ? known : undefined
})

export const privateKey = (remedy: string) =>
  Parser.described(secretBytes, { expected: "a key of 64 hex digits", remedy })

/** The private holder key of a command that signs with it. */
export const signingKey = Parser.described(secretBytes, { expected: "a key of 64 hex characters", remedy: undefined })
