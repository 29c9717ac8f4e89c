/**
 * What certificates and certificate requests share: names, extensions, keys and signatures.
 *
 * @internal
 */
import { createPublicKey, type KeyObject, sign } from "node:crypto"
import * as Der from "./DerWriter.ts"

export const sha256WithEcdsa = Der.sequence(Der.oid("1.2.840.10045.4.3.2"))

/** A common name has at most 64 characters (RFC 5280 appendix A.1): a longer host name stands in the extension alone. */
const longestCommonName = 64

/** A distinguished name of one common name, or of none where it would be too long. */
export const name = (commonName: string) =>
  commonName.length > longestCommonName
    ? Der.sequence()
    : Der.sequence(Der.set(Der.sequence(Der.oid("2.5.4.3"), Der.utf8(commonName))))

/** The public key as SubjectPublicKeyInfo. */
export const spki = (key: KeyObject): Buffer =>
  (key.type === "private" ? createPublicKey(key) : key).export({ format: "der", type: "spki" })

export const extension = (id: string, critical: boolean, content: Uint8Array) =>
  Der.sequence(Der.oid(id), ...(critical ? [Der.boolean(true)] : []), Der.octets(content))

/** The DNS names. Critical where the subject is empty, as RFC 5280 4.2.1.6 demands. */
export const subjectAltName = (hosts: ReadonlyArray<string>) =>
  extension(
    "2.5.29.17",
    (hosts[0] ?? "").length > longestCommonName,
    Der.sequence(...hosts.map((host) => Der.implicit(2, Buffer.from(host, "ascii"))))
  )

/** A body with its signature. */
export const signed = (body: Uint8Array, key: KeyObject) =>
  Der.sequence(body, sha256WithEcdsa, Der.bits(sign("sha256", body, key)))
