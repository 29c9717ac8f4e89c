/**
 * Issues our own certificates: self-signed roots, leaves for host names, and the proof of a host name for TLS-ALPN-01 (RFC 5280,
 * ECDSA P-256 with SHA-256). Pure, without a clock.
 */
import { createHash, type KeyObject } from "node:crypto"
import * as Der from "./Der.ts"
import { extension, name, sha256WithEcdsa, signed, spki, subjectAltName } from "./Der.ts"

/** Validity in epoch milliseconds. */
export interface Validity {
  readonly from: number
  readonly until: number
}

const keyIdentifier = (key: KeyObject) => createHash("sha1").update(spki(key)).digest()

/** Positive, unique per key and moment, and the same when the same certificate is minted again. */
const serial = (key: KeyObject, { from }: Validity) => {
  const digits = createHash("sha256").update(spki(key)).update(String(from)).digest().subarray(0, 16)
  digits[0] = ((digits[0] ?? 0) & 0x7f) | 0x40
  return Der.integer(digits)
}

interface Subject {
  readonly issuer: string
  readonly issuerKey: KeyObject
  readonly subject: string
  readonly subjectKey: KeyObject
  readonly validity: Validity
  readonly extensions: ReadonlyArray<Uint8Array>
}

const mint = ({ issuer, issuerKey, subject, subjectKey, validity, extensions }: Subject): Buffer => {
  const body = Der.sequence(
    Der.explicit(0, Der.integer(Buffer.of(2))),
    serial(subjectKey, validity),
    sha256WithEcdsa,
    name(issuer),
    Der.sequence(Der.time(validity.from), Der.time(validity.until)),
    name(subject),
    spki(subjectKey),
    Der.explicit(
      3,
      Der.sequence(
        ...extensions,
        extension("2.5.29.14", false, Der.octets(keyIdentifier(subjectKey))),
        extension("2.5.29.35", false, Der.sequence(Der.implicit(0, keyIdentifier(issuerKey))))
      )
    )
  )
  return signed(body, issuerKey)
}

/** Signs leaves and one CA below it: its successor, while both are valid. */
const authority = [
  extension("2.5.29.19", true, Der.sequence(Der.boolean(true), Der.integer(Buffer.of(1)))),
  // digitalSignature, keyCertSign, cRLSign
  extension("2.5.29.15", true, Der.bits(Buffer.of(0b1000_0110), 1))
]

/** Names that a root may certify: DNS names with their subdomains, and networks as address and mask in octets. */
export interface NameConstraints {
  readonly dns: ReadonlyArray<string>
  readonly networks: ReadonlyArray<{ readonly address: Uint8Array; readonly mask: Uint8Array }>
}

/** RFC 5280 4.2.1.10: permitted subtrees, critical, so that a verifier that does not support them rejects the root. */
const nameConstraints = ({ dns, networks }: NameConstraints) =>
  extension(
    "2.5.29.30",
    true,
    Der.sequence(
      Der.explicit(
        0,
        Buffer.concat([
          ...dns.map((host) => Der.sequence(Der.implicit(2, Buffer.from(host, "ascii")))),
          ...networks.map(({ address, mask }) => Der.sequence(Der.implicit(7, Buffer.concat([address, mask]))))
        ])
      )
    )
  )

/**
 * A self-signed root, for any name unless it is constrained. DER.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { generateKeyPairSync, X509Certificate } from "node:crypto"
 * import * as Certificate from "@catenet/crypto/x509/Certificate"
 *
 * const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
 * const root = Certificate.mintRoot("Root", key, { from: 0, until: 4e12 })
 * ok(new X509Certificate(root).ca)
 * ```
 */
export const mintRoot = (
  commonName: string,
  key: KeyObject,
  validity: Validity,
  constraints?: NameConstraints
): Buffer =>
  mint({
    issuer: commonName,
    issuerKey: key,
    subject: commonName,
    subjectKey: key,
    validity,
    extensions: constraints === undefined ? authority : [...authority, nameConstraints(constraints)]
  })

/**
 * A cross-certificate: whoever trusts the root of `issuerKey` then trusts the root of `key`, which has the same name. DER.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { generateKeyPairSync, X509Certificate } from "node:crypto"
 * import * as Certificate from "@catenet/crypto/x509/Certificate"
 *
 * const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
 * const next = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
 * const cross = Certificate.mintCross("Root", key, next, { from: 0, until: 4e12 })
 * ok(new X509Certificate(cross).checkPrivateKey(next))
 * ```
 */
export const mintCross = (commonName: string, issuerKey: KeyObject, key: KeyObject, validity: Validity): Buffer =>
  mint({
    issuer: commonName,
    issuerKey,
    subject: commonName,
    subjectKey: key,
    validity,
    extensions: authority
  })

/**
 * A server certificate for `hosts`, signed by the root with the common name `issuer`. DER.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { generateKeyPairSync, X509Certificate } from "node:crypto"
 * import * as Certificate from "@catenet/crypto/x509/Certificate"
 *
 * const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
 * const leaf = Certificate.mintLeaf("Root", key, key, ["a.example"], { from: 0, until: 4e12 })
 * ok(new X509Certificate(leaf).checkHost("a.example"))
 * ```
 */
export const mintLeaf = (
  issuer: string,
  issuerKey: KeyObject,
  key: KeyObject,
  hosts: ReadonlyArray<string>,
  validity: Validity
): Buffer =>
  mint({
    issuer,
    issuerKey,
    subject: hosts[0] ?? "localhost",
    subjectKey: key,
    validity,
    extensions: [
      extension("2.5.29.19", true, Der.sequence()),
      extension("2.5.29.15", true, Der.bits(Buffer.of(0b1000_0000), 7)),
      extension("2.5.29.37", false, Der.sequence(Der.oid("1.3.6.1.5.5.7.3.1"))),
      subjectAltName(hosts)
    ]
  })

/**
 * The proof of a key authorization in a certificate: a critical extension with its SHA-256 (RFC 8737 section 3). DER.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Certificate from "@catenet/crypto/x509/Certificate"
 *
 * ok(!Certificate.mintChallengeExtension("a").equals(Certificate.mintChallengeExtension("b")))
 * ```
 */
export const mintChallengeExtension = (keyAuthorization: string) =>
  extension("1.3.6.1.5.5.7.1.31", true, Der.octets(createHash("sha256").update(keyAuthorization).digest()))

/**
 * The certificate that a server shows to prove `host` by TLS-ALPN-01. It is self-signed. DER.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { generateKeyPairSync } from "node:crypto"
 * import * as Certificate from "@catenet/crypto/x509/Certificate"
 *
 * const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
 * const proof = Certificate.mintChallenge("a.example", key, "token.thumbprint", { from: 0, until: 4e12 })
 * ok(proof.includes(Certificate.mintChallengeExtension("token.thumbprint")))
 * ```
 */
export const mintChallenge = (host: string, key: KeyObject, keyAuthorization: string, validity: Validity): Buffer =>
  mint({
    issuer: host,
    issuerKey: key,
    subject: host,
    subjectKey: key,
    validity,
    extensions: [subjectAltName([host]), mintChallengeExtension(keyAuthorization)]
  })

/**
 * PEM text of a DER certificate.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { pem } from "@catenet/crypto/x509/Certificate"
 *
 * strictEqual(pem(Uint8Array.of(1)), "-----BEGIN CERTIFICATE-----\nAQ==\n-----END CERTIFICATE-----\n")
 * ```
 */
export const pem = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der)
    .toString("base64")
    .replace(/(.{64})(?=.)/g, "$1\n")}\n-----END CERTIFICATE-----\n`
