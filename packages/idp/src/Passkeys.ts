/**
 * Passkeys (Web Authentication Level 3): what a browser sends of them is checked here. Attestation is not asked for, so a
 * new key proves nothing but itself, and the browser's own decoding of it is as good as ours: no CBOR is read.
 */
import { createHash, createPublicKey, type KeyObject, timingSafeEqual, verify } from "node:crypto"

/** Whose passkeys they are: the host of the provider, and its origin in a browser. */
export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

export interface Passkey {
  /** The credential id, base64url. */
  readonly id: string
  readonly userId: string
  /** SPKI in DER, base64url. */
  readonly publicKey: string
  readonly algorithm: number
  /** How often it was used, if it counts; one that goes back was copied. */
  readonly counter: number
  /** Unix seconds. */
  readonly at: number
  readonly usedAt?: number
}

export interface Passkeys {
  readonly byId: (id: string) => Promise<Passkey | undefined>
  readonly ofUser: (userId: string) => Promise<ReadonlyArray<Passkey>>
  /** False where the id is taken, or the user has as many as one may have. */
  readonly add: (passkey: Passkey) => Promise<boolean>
  /** Takes the counter forward; false where another use was there before. */
  readonly use: (id: string, before: number, counter: number) => Promise<boolean>
  readonly remove: (userId: string, id: string) => Promise<void>
}

/** COSE algorithms: ES256, EdDSA, RS256. */
export const algorithms: ReadonlyArray<number> = [-7, -8, -257]

export type Reason =
  "form" | "type" | "challenge" | "origin" | "site" | "verification" | "key" | "signature" | "counter"

export class PasskeyRefused extends Error {
  readonly reason: Reason
  constructor(reason: Reason) {
    super(`The passkey was refused: ${reason}`)
    this.reason = reason
  }
}

type Sent = ReadonlyMap<string, unknown>

const parsed = (text: string): Sent => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return new Map(Object.entries(value))
  } catch {
    throw new PasskeyRefused("form")
  }
  throw new PasskeyRefused("form")
}

/** Bytes that the page's script has written as base64url. */
const bytesOf = (sent: Sent, name: string): Buffer => {
  const text = sent.get(name)
  if (typeof text !== "string" || !/^[A-Za-z0-9_-]{1,8192}$/u.test(text)) throw new PasskeyRefused("form")
  return Buffer.from(text, "base64url")
}

const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest()

const checkClientData = (bytes: Buffer, type: string, challenge: string, { origin }: RelyingParty) => {
  const data = parsed(bytes.toString("utf8"))
  if (data.get("type") !== type) throw new PasskeyRefused("type")
  const [given, expected] = [sha256(String(data.get("challenge"))), sha256(challenge)]
  if (!timingSafeEqual(given, expected)) throw new PasskeyRefused("challenge")
  if (data.get("origin") !== origin || data.get("crossOrigin") === true) throw new PasskeyRefused("origin")
}

const userPresent = 0x01
const userVerified = 0x04
const attested = 0x40

/** Authenticator data up to the credential's id (section 6.1). */
const readAuthenticatorData = (data: Buffer, { id }: RelyingParty) => {
  if (data.length < 37) throw new PasskeyRefused("form")
  if (!timingSafeEqual(data.subarray(0, 32), sha256(id))) throw new PasskeyRefused("site")
  const flags = data.readUInt8(32)
  // A passkey is both factors: what one has, and what unlocks it.
  if ((flags & userPresent) === 0 || (flags & userVerified) === 0) throw new PasskeyRefused("verification")
  const counter = data.readUInt32BE(33)
  if ((flags & attested) === 0) return { counter, credentialId: undefined }
  const length = data.length < 55 ? 0 : data.readUInt16BE(53)
  if (length === 0 || length > 1023 || data.length < 55 + length) throw new PasskeyRefused("form")
  return { counter, credentialId: data.subarray(55, 55 + length).toString("base64url") }
}

const readKey = (der: Buffer, algorithm: number): KeyObject => {
  let key: KeyObject
  try {
    key = createPublicKey({ key: der, format: "der", type: "spki" })
  } catch {
    throw new PasskeyRefused("key")
  }
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {}
  const fits =
    algorithm === -7
      ? key.asymmetricKeyType === "ec" && namedCurve === "prime256v1"
      : algorithm === -8
        ? key.asymmetricKeyType === "ed25519"
        : algorithm === -257 && key.asymmetricKeyType === "rsa" && modulusLength >= 2048
  if (!fits) throw new PasskeyRefused("key")
  return key
}

/** A new passkey, from what the page's script has sent. Throws `PasskeyRefused`. */
export const created = (
  text: string,
  challenge: string,
  site: RelyingParty
): Pick<Passkey, "id" | "publicKey" | "algorithm" | "counter"> => {
  const sent = parsed(text)
  checkClientData(bytesOf(sent, "clientData"), "webauthn.create", challenge, site)
  const { counter, credentialId } = readAuthenticatorData(bytesOf(sent, "authenticatorData"), site)
  if (credentialId === undefined || credentialId !== sent.get("id")) throw new PasskeyRefused("form")
  const algorithm = Number(sent.get("algorithm"))
  const key = readKey(bytesOf(sent, "publicKey"), algorithm)
  const publicKey = key.export({ format: "der", type: "spki" }).toString("base64url")
  return { id: credentialId, publicKey, algorithm, counter }
}

/** The passkey that signs in, its counter taken forward. Throws `PasskeyRefused`. */
export const used = async (
  text: string,
  challenge: string,
  site: RelyingParty,
  passkeys: Pick<Passkeys, "byId" | "use">
): Promise<Passkey> => {
  const sent = parsed(text)
  const clientData = bytesOf(sent, "clientData")
  checkClientData(clientData, "webauthn.get", challenge, site)
  const authenticatorData = bytesOf(sent, "authenticatorData")
  const { counter } = readAuthenticatorData(authenticatorData, site)
  const passkey = await passkeys.byId(bytesOf(sent, "id").toString("base64url"))
  if (passkey === undefined) throw new PasskeyRefused("key")
  if (bytesOf(sent, "userHandle").toString("utf8") !== passkey.userId) throw new PasskeyRefused("key")
  const key = readKey(Buffer.from(passkey.publicKey, "base64url"), passkey.algorithm)
  const signed = Buffer.concat([authenticatorData, sha256(clientData)])
  const hash = passkey.algorithm === -8 ? null : "sha256"
  if (!verify(hash, signed, key, bytesOf(sent, "signature"))) throw new PasskeyRefused("signature")
  // Section 6.1.1: one that counts never goes back, or it was copied.
  const goesForward = counter > passkey.counter || (counter === 0 && passkey.counter === 0)
  if (!goesForward || !(await passkeys.use(passkey.id, passkey.counter, counter))) throw new PasskeyRefused("counter")
  return passkey
}
