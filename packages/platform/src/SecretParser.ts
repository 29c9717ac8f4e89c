/** Parsers of what must not be shown. Their values are `Redacted`, and their variables have a `_FILE` of their own. */
import { Redacted, Result } from "effect"
import { Base64, Hex } from "effect/encoding"
import * as DatabaseUrl from "./DatabaseUrl.ts"
import { parseUrl } from "./NetworkParser.ts"
import { make, type Parser } from "./Parser.ts"

const hex64 = /^[0-9a-f]{64}$/i

const bytes = (hex: string) => Result.map(Hex.decode(hex), (bytes) => Redacted.make(bytes))

/** Any text. */
export const secret: Parser<Redacted.Redacted> = make("a secret text", (text) => Redacted.make(text), {
  isSecret: true
})

const generate = { isSecret: true, remedy: "generate one with: openssl rand -hex 32" }

/** 32 bytes as 64 hex digits, kept as lower-case text. */
export const secretHex: Parser<Redacted.Redacted> = make(
  "64 hex digits",
  (text) => (hex64.test(text) ? Redacted.make(text.toLowerCase()) : undefined),
  generate
)

/** 32 bytes as 64 hex digits. */
export const secretBytes: Parser<Redacted.Redacted<Uint8Array>> = make(
  "64 hex digits",
  (text) => (hex64.test(text) ? Result.getOrUndefined(bytes(text)) : undefined),
  generate
)

/** One or more secrets of 32 bytes as 64 hex digits each, between commas or, in a file, one a line. */
export const secretKeys: Parser<ReadonlyArray<Redacted.Redacted<Uint8Array>>> = make(
  "64 hex digits, or several such keys separated by commas",
  (text) => {
    const items = text.split(/\s*,\s*|\s+/u)
    return items.every((item) => hex64.test(item))
      ? items.flatMap((item) => Result.getOrUndefined(bytes(item)) ?? [])
      : undefined
  },
  generate
)

/** Bytes as base64. */
export const secretBase64: Parser<Redacted.Redacted<Uint8Array>> = make(
  "base64",
  (text) => Result.getOrUndefined(Result.map(Base64.decode(text), (bytes) => Redacted.make(bytes))),
  { isSecret: true }
)

const isMailServer = (text: string): boolean => {
  const url = parseUrl(text, ["smtp:", "smtps:"])
  if (url === undefined || url.hostname === "" || !/^\/?$/u.test(url.pathname)) return false
  if (url.search !== "" || url.hash !== "" || (url.username === "") !== (url.password === "")) return false
  try {
    return !/[\0\r\n]/u.test(decodeURIComponent(url.username) + decodeURIComponent(url.password))
  } catch {
    return false
  }
}

/** The address of a mail server, with a name and a password or without both. */
export const mailServerUrl: Parser<Redacted.Redacted> = make(
  "a URL such as smtps://user:password@mail.example.com or smtp://user:password@mail.example.com:587",
  (text) => (isMailServer(text) ? Redacted.make(text) : undefined),
  { isSecret: true }
)

const certificate = /^-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----$/u

/** Certificates in PEM. They are public, and long enough for a file. */
export const certificates: Parser<Redacted.Redacted> = make(
  "one or more certificates in PEM",
  (text) =>
    text.split(/(?<=-----END CERTIFICATE-----)\s*(?=-)/u).every((each) => certificate.test(each.trim()))
      ? Redacted.make(text)
      : undefined,
  { isSecret: true }
)

/** The address of a PostgreSQL database, with one server or several of which one takes writes. It holds a password. */
export const databaseUrl: Parser<Redacted.Redacted> = make(
  "a URL such as postgres://user:password@host:5432/catenet",
  (text) => {
    const all = DatabaseUrl.servers(text)
    const isServer = (url: URL) => url.hostname !== "" && !url.searchParams.has("host") && !url.searchParams.has("port")
    const isUrl = (each: string) => {
      const url = parseUrl(each, ["postgres:", "postgresql:"])
      return url !== undefined && (all.length === 1 || isServer(url))
    }
    return all.every(isUrl) ? Redacted.make(text) : undefined
  },
  { isSecret: true }
)
