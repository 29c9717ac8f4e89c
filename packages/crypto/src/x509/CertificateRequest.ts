/**
 * Certificate requests (PKCS #10, RFC 2986), ECDSA P-256 with SHA-256: written for one host name, and read strictly, which
 * includes their signature.
 */
import { Option } from "effect"
import { createPublicKey, type KeyObject, verify } from "node:crypto"
import { name, type Node, readAll, readNode, signed, spki, subjectAltName } from "./Der.ts"
import * as Der from "./Der.ts"

const extensionRequest = "1.2.840.113549.1.9.14"
const dnsName = 0x82

/**
 * A request for a certificate of `host`, in the name and in the extension. DER.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { generateKeyPairSync } from "node:crypto"
 * import { Option } from "effect"
 * import * as CertificateRequest from "@catenet/crypto/x509/CertificateRequest"
 *
 * const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
 * const der = CertificateRequest.write("a.example", key)
 * deepStrictEqual(Option.getOrThrow(CertificateRequest.read(der)).hosts, ["a.example"])
 * ```
 */
export const write = (host: string, key: KeyObject): Buffer =>
  signed(
    Der.sequence(
      Der.integer(Buffer.of(0)),
      name(host),
      spki(key),
      Der.explicit(0, Der.sequence(Der.oid(extensionRequest), Der.set(Der.sequence(subjectAltName([host])))))
    ),
    key
  )

/** Content of a request. */
export interface Requested {
  readonly key: KeyObject
  readonly hosts: ReadonlyArray<string>
}

const isOid = ({ whole }: Node, dotted: string) => Buffer.from(whole).equals(Der.oid(dotted))

/** The value of the entry `oid value` or `oid critical value` of a list. */
const valueOf = (list: Node, dotted: string): Node | undefined =>
  Option.getOrElse(readAll(list.content), () => [])
    .map((entry) => Option.getOrElse(readAll(entry.content), () => []))
    .find(([id]) => id !== undefined && isOid(id, dotted))
    ?.at(-1)

const partsOf = (node: Node | undefined) =>
  node === undefined ? [] : Option.getOrElse(readAll(node.content), () => [])

const hostsOf = (attributes: Node) => {
  const [extensions] = partsOf(valueOf(attributes, extensionRequest))
  const value = extensions === undefined ? undefined : valueOf(extensions, "2.5.29.17")
  const [names] = partsOf(value)
  return partsOf(names).map(({ content, tag }) => ({ tag, text: Buffer.from(content).toString("latin1") }))
}

const keyOf = (der: Uint8Array): Option.Option<KeyObject> => {
  try {
    return Option.some(createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" }))
  } catch {
    return Option.none()
  }
}

/**
 * Reads a request and checks its signature; none for anything else or if a name is not a DNS name.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { generateKeyPairSync } from "node:crypto"
 * import { Option } from "effect"
 * import * as CertificateRequest from "@catenet/crypto/x509/CertificateRequest"
 *
 * const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
 * const der = CertificateRequest.write("a.example", key)
 * deepStrictEqual(Option.getOrThrow(CertificateRequest.read(der)).hosts, ["a.example"])
 * ```
 */
export const read = (der: Uint8Array): Option.Option<Requested> =>
  Option.gen(function* () {
    const [body, , signature, ...rest] = yield* readAll((yield* readNode(der)).content)
    if (body === undefined || signature?.tag !== 0x03 || rest.length > 0) return yield* Option.none()
    const [, , keyInfo, attributes] = yield* readAll(body.content)
    if (keyInfo === undefined || attributes === undefined) return yield* Option.none()
    const key = yield* keyOf(keyInfo.whole)
    if (!verify("sha256", body.whole, key, signature.content.subarray(1))) return yield* Option.none()
    const hosts = hostsOf(attributes)
    if (hosts.length === 0 || hosts.some(({ tag }) => tag !== dnsName)) return yield* Option.none()
    return { key, hosts: hosts.map(({ text }) => text) }
  })
