/**
 * A trust anchor in a variable: hex of its DER (the contract's form), PEM text, or the path of a file with either or with DER.
 */
import * as Hex from "@catenet/crypto/Hex"
import * as Parser from "@catenet/platform/Parser"
import { Data, Result } from "effect"
import { X509Certificate } from "node:crypto"

/** The kind of the text, before any file is read. */
export type TrustAnchor = Data.TaggedEnum<{
  Pem: { readonly pem: string }
  File: { readonly path: string }
  /** Why the text is not a certificate, as the end of a sentence that begins with the variable. */
  Unusable: { readonly why: string }
}>
export const TrustAnchor = Data.taggedEnum<TrustAnchor>()

const sequenceTag = 0x30

/** Why bytes are not one whole ASN.1 sequence, or undefined. */
const frameProblem = (der: Uint8Array): string | undefined => {
  if (der[0] !== sequenceTag) return "does not begin as a certificate does, with the byte 30"
  const first = der[1] ?? 0
  const count = first < 0x80 ? 0 : first - 0x80
  if (count > 4 || first === 0x80 || der.length < 2 + count) return "has no definite length"
  const declared = count === 0 ? first : der.subarray(2, 2 + count).reduce((sum, byte) => sum * 256 + byte, 0)
  const missing = 2 + count + declared - der.length
  if (missing === 0) return undefined
  return missing > 0 ? `is cut: ${missing} bytes are missing` : `has ${-missing} bytes behind its end`
}

/** DER bytes as a PEM certificate, or the problem with them. */
const ofDer = (der: Uint8Array): TrustAnchor => {
  const problem = frameProblem(der)
  if (problem !== undefined) return TrustAnchor.Unusable({ why: problem })
  try {
    return TrustAnchor.Pem({ pem: new X509Certificate(der).toString() })
  } catch {
    return TrustAnchor.Unusable({ why: "is no X.509 certificate" })
  }
}

const ofPem = (text: string): TrustAnchor => {
  try {
    return TrustAnchor.Pem({ pem: new X509Certificate(text).toString() })
  } catch {
    return TrustAnchor.Unusable({ why: "holds a PEM text that is no certificate" })
  }
}

const ofHex = (text: string): TrustAnchor => {
  if (text.length % 2 === 1) return TrustAnchor.Unusable({ why: `has an odd count of hex digits (${text.length})` })
  return Result.match(Hex.decode(text), {
    onSuccess: ofDer,
    onFailure: () => TrustAnchor.Unusable({ why: "has a character that is no hex digit" })
  })
}

/** The kinds of text in such a variable. */
const read = (text: string): TrustAnchor => {
  if (text.startsWith("-----BEGIN")) return ofPem(text)
  return /[/.\\]/.test(text) ? TrustAnchor.File({ path: text }) : ofHex(text)
}

/** A file's content: PEM, hex digits, or DER. */
export const ofFile = (bytes: Uint8Array): TrustAnchor => {
  if (bytes[0] === sequenceTag && bytes[1] !== undefined && bytes[1] >= 0x80) return ofDer(bytes)
  const text = new TextDecoder().decode(bytes).trim()
  return text.startsWith("-----BEGIN") ? ofPem(text) : ofHex(text)
}

/** Accepts any text: problems are reported more precisely later than a parser could. */
export const certificate: Parser.Parser<TrustAnchor> = Parser.make(
  "a certificate: hex of its DER, PEM, or the path of a file",
  read
)
