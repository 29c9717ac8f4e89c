/**
 * How ACME names a certificate that is to be renewed (RFC 9773 section 4.1): the key identifier of its issuer and its serial
 * number, both as base64url.
 */
import { Option } from "effect"
import * as Base64 from "../Base64.ts"
import { type Node, readAll, readNode } from "./Der.ts"
import * as Der from "./Der.ts"

const authorityKeyIdentifier = Der.oid("2.5.29.35")
const keyIdentifier = 0x80
const extensionsTag = 0xa3

const inside = (node: Node | undefined) => (node === undefined ? Option.none() : readAll(node.content))

/**
 * The id of a certificate (DER); none if the certificate has no issuer key identifier.
 *
 * ```ts
 * import { match } from "node:assert"
 * import { generateKeyPairSync } from "node:crypto"
 * import { Option } from "effect"
 * import * as Certificate from "@catenet/crypto/x509/Certificate"
 * import { certificateId } from "@catenet/crypto/x509/CertificateId"
 *
 * const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
 * const leaf = Certificate.mintLeaf("Root", key, key, ["a.example"], { from: 0, until: 4e12 })
 * match(Option.getOrThrow(certificateId(leaf)), /^[\w-]{27}\.[\w-]+$/)
 * ```
 */
export const certificateId = (der: Uint8Array): Option.Option<string> =>
  Option.gen(function* () {
    const [body] = yield* inside(yield* readNode(der))
    const [, serial, ...fields] = yield* inside(body)
    const extensions = yield* inside((yield* inside(fields.find(({ tag }) => tag === extensionsTag)))[0])
    for (const extension of extensions) {
      const parts = yield* inside(extension)
      if (parts[0] === undefined || !authorityKeyIdentifier.equals(parts[0].whole)) continue
      const [identifier] = yield* inside((yield* inside(parts.at(-1)))[0])
      if (identifier?.tag !== keyIdentifier || serial === undefined) return yield* Option.none()
      return `${Base64.encodeUrl(identifier.content)}.${Base64.encodeUrl(serial.content)}`
    }
    return yield* Option.none()
  })
