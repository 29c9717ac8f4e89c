/** A certificate authority for tests: a root of its own and leaves for one host name (RFC 5280, ECDSA P-256, SHA-256). */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate
} from "node:crypto"

export interface Leaf {
  /** PEM, the leaf alone. */
  readonly cert: string
  readonly key: string
}

export interface Authority {
  readonly der: Uint8Array
  readonly pem: string
  leaf(name: string): Leaf
  /** A certificate that proves this host to an ACME server (RFC 8737 section 3). */
  challenge(name: string, keyAuthorization: string): Leaf
}

const tlv = (tag: number, ...parts: ReadonlyArray<Uint8Array>) => {
  const content = Buffer.concat(parts)
  const { length } = content
  const head =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>) => tlv(0x30, ...parts)
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, "hex"))
const time = (date: Date) => tlv(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-:T]/g, "")}Z`))
const name = (commonName: string) => sequence(tlv(0x31, sequence(oid("550403"), tlv(0x0c, Buffer.from(commonName)))))
const extension = (id: string, critical: boolean, content: Uint8Array) =>
  sequence(oid(id), ...(critical ? [Buffer.of(1, 1, 0xff)] : []), tlv(0x04, content))
const algorithm = sequence(oid("2a8648ce3d040302"))
const day = 86_400_000

const mint = (issuer: string, issuerKey: KeyObject, subject: string, subjectKey: KeyObject, extra: Uint8Array) => {
  const body = sequence(
    tlv(0xa0, Buffer.of(2, 1, 2)),
    tlv(0x02, Buffer.concat([Buffer.of(0x40), randomBytes(8)])),
    algorithm,
    name(issuer),
    sequence(time(new Date(Date.now() - day)), time(new Date(Date.now() + day))),
    name(subject),
    createPublicKey(subjectKey).export({ format: "der", type: "spki" }),
    tlv(0xa3, sequence(extra))
  )
  return sequence(body, algorithm, tlv(0x03, Buffer.of(0), sign("sha256", body, issuerKey)))
}

const keyPair = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey

export const makeAuthority = (commonName = "test root"): Authority => {
  const key = keyPair()
  const der = mint(commonName, key, commonName, key, extension("551d13", true, sequence(Buffer.of(1, 1, 0xff))))
  const leaf = (host: string, ...more: ReadonlyArray<Uint8Array>) => {
    const own = keyPair()
    const names = extension("551d11", false, sequence(tlv(0x82, Buffer.from(host))))
    const signed = mint(commonName, key, host, own, Buffer.concat([names, ...more]))
    return {
      cert: new X509Certificate(signed).toString(),
      key: own.export({ format: "pem", type: "pkcs8" }).toString()
    }
  }
  return {
    der: new Uint8Array(der),
    pem: new X509Certificate(der).toString(),
    leaf: (host) => leaf(host),
    challenge: (host, keyAuthorization) => {
      const digest = createHash("sha256").update(keyAuthorization).digest()
      return leaf(host, extension("2b0601050507011f", true, tlv(0x04, digest)))
    }
  }
}
