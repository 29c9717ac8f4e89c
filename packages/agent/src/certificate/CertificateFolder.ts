/**
 * The folder of the certificate: `privkey.pem`, `fullchain.pem` and `acme-account-key.der`, and in `acme-state.json` what must
 * outlive the process: the accounts, an order that is open with its key, and that the control plane has not yet heard of a
 * certificate. Every file is replaced whole or not at all; of the pair the key is put in its place first.
 */
import { Effect, FileSystem, Schema } from "effect"
import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto"
import { StateUnusable } from "../Failure.ts"
import * as FileBackup from "../state/FileBackup.ts"
import * as KeyFile from "../state/KeyFile.ts"
import * as PrivateFile from "../state/PrivateFile.ts"

const Account = Schema.Struct({ directory: Schema.String, thumbprint: Schema.String, url: Schema.String })

const OpenOrder = Schema.Struct({
  ca: Schema.String,
  directory: Schema.String,
  hostname: Schema.String,
  url: Schema.String,
  /** Of the certificate: PEM of PKCS #8. */
  key: Schema.String
})

const CertificateState = Schema.Struct({
  accounts: Schema.Array(Account).check(Schema.isMaxLength(100)),
  order: Schema.optionalKey(OpenOrder),
  /** An order is being placed, and its server's answer was not yet remembered. */
  placing: Schema.optionalKey(Schema.Struct({ directory: Schema.String, hostname: Schema.String })),
  /** The host name whose certificate the control plane does not know of yet. */
  completion: Schema.optionalKey(Schema.String),
  /** The certificate that was ordered last: the SHA-256 of it, and its authority's directory. */
  issued: Schema.optionalKey(Schema.Struct({ fingerprint: Schema.String, directory: Schema.String })),
  /** SHA-256 of a certificate that the server which serves with it was not yet made to read. */
  unloaded: Schema.optionalKey(Schema.String),
  /** SHA-256 of a certificate that was revoked: it counts as none. */
  revoked: Schema.optionalKey(Schema.String)
})
export type CertificateState = typeof CertificateState.Type

export interface Places {
  readonly folder: string
  readonly accountKey: string
}

const text = new TextEncoder()
const decodeState = Schema.decodeUnknownEffect(Schema.fromJsonString(CertificateState))
const encodeState = Schema.encodeSync(CertificateState)

const statePath = ({ folder }: Places) => `${folder}/acme-state.json`
const keyPath = ({ folder }: Places) => `${folder}/privkey.pem`
const chainPath = ({ folder }: Places) => `${folder}/fullchain.pem`

/** The pair and what is remembered of it. */
export const filesOf = (places: Places): ReadonlyArray<string> => [
  chainPath(places),
  keyPath(places),
  statePath(places)
]

/** Readable for others, where the umask lets them: it is public, and web servers read it. */
const publicMode = 0o644

export const newKey = (): KeyObject => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
export const pemOf = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }).toString()

/** A link in the way leads to a file that somebody else may own: it is not replaced. */
const refuseLink = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const isLink = yield* Effect.orElseSucceed(Effect.as(fs.readLink(path), true), () => false)
  if (isLink)
    return yield* new StateUnusable({
      path,
      detail: "it is a symbolic link. Remove it, or set CT_ACME_CERT_OUT_DIR to where it leads."
    })
})

/** What is remembered. A file that cannot be understood is refused: an open order and the accounts would be forgotten. */
export const readState = Effect.fn("CertificateFolder.readState")(function* (places: Places) {
  const path = statePath(places)
  yield* refuseLink(path)
  const bytes = yield* PrivateFile.read(path)
  if (bytes === undefined) return { accounts: [] } satisfies CertificateState
  return yield* Effect.mapError(
    decodeState(new TextDecoder().decode(bytes)),
    () => new StateUnusable({ path, detail: "it cannot be understood. Remove it; a new account is made." })
  )
})

export const writeState = Effect.fn("CertificateFolder.writeState")(function* (
  places: Places,
  state: CertificateState
) {
  yield* PrivateFile.replaceAll([
    { path: statePath(places), bytes: text.encode(`${JSON.stringify(encodeState(state))}\n`) }
  ])
})

/** The account's key, made at the first time. One that cannot be read is refused and not replaced. */
export const accountKey = Effect.fn("CertificateFolder.accountKey")(function* ({ accountKey: path }: Places) {
  const bytes = yield* KeyFile.read(path)
  if (bytes === undefined) {
    // A link that leads nowhere: the key that is meant is on a disk that is not there now.
    yield* refuseLink(path)
    const key = newKey()
    yield* PrivateFile.replaceAll([{ path, bytes: key.export({ type: "pkcs8", format: "der" }) }])
    return key
  }
  const unusable = () =>
    new StateUnusable({ path, detail: "it is no PKCS#8 DER of a P-256 key. Put the right file back, or remove it." })
  const key = yield* Effect.try({
    try: () => createPrivateKey({ key: Buffer.from(bytes), format: "der", type: "pkcs8" }),
    catch: unusable
  })
  return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : yield* unusable()
})

const contents = (places: Places, key: KeyObject, chain: string) => [
  { path: keyPath(places), bytes: text.encode(pemOf(key)) },
  { path: chainPath(places), bytes: text.encode(chain), mode: publicMode }
]

/** More than a pair has. */
const room = 32_768

/** Fails where a new pair could not be put in its place: an authority is not asked for one that would be lost. */
export const check = Effect.fn("CertificateFolder.check")(function* (places: Places) {
  const paths = [keyPath(places), chainPath(places)]
  yield* Effect.forEach(paths, refuseLink, { discard: true })
  yield* Effect.ensuring(PrivateFile.reserve(chainPath(places), room), PrivateFile.discard(paths))
})

/** Puts a pair in its place. */
export const writePair = Effect.fn("CertificateFolder.writePair")(function* (
  places: Places,
  key: KeyObject,
  chain: string
) {
  const files = contents(places, key, chain)
  yield* Effect.forEach(files, ({ path }) => refuseLink(path), { discard: true })
  yield* PrivateFile.replaceAll(files)
})

const certificateOf = (bytes: Uint8Array | undefined) => {
  try {
    return bytes === undefined ? undefined : new X509Certificate(bytes)
  } catch {
    return undefined
  }
}

const isPair = (certificate: X509Certificate | undefined, key: Uint8Array | undefined) => {
  try {
    return (
      certificate !== undefined && key !== undefined && certificate.checkPrivateKey(createPrivateKey(Buffer.from(key)))
    )
  } catch {
    return false
  }
}

/** The leaf of the pair that is in its place; undefined where there is no pair that belongs together. */
export const leaf = Effect.fn("CertificateFolder.leaf")(function* (places: Places) {
  const certificate = certificateOf(yield* PrivateFile.read(chainPath(places)))
  return isPair(certificate, yield* PrivateFile.read(keyPath(places))) ? certificate : undefined
})

const certificates = /-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]+-----END CERTIFICATE-----/g

/** The certificates in `fullchain.pem`, without what stands between them; undefined where there is none. */
export const chain = Effect.fn("CertificateFolder.chain")(function* (places: Places) {
  const bytes = yield* PrivateFile.read(chainPath(places))
  return new TextDecoder().decode(bytes).match(certificates)?.join("\n")
})

/** Whether both files of the pair are there, whatever is in them. */
export const isThere = Effect.fn("CertificateFolder.isThere")(function* (places: Places) {
  const fs = yield* FileSystem.FileSystem
  const has = (path: string) => Effect.orElseSucceed(fs.exists(path), () => true)
  return (yield* has(keyPath(places))) && (yield* has(chainPath(places)))
})

/** Whether the pair is there, and the server that serves with it has read it. */
export const isServed = Effect.fn("CertificateFolder.isServed")(function* (places: Places) {
  const found = yield* leaf(places)
  return found !== undefined && (yield* readState(places)).unloaded !== found.fingerprint256
})

/**
 * Ends what a process began that died between the two files: a new key whose chain is still beside its place gets it, and where
 * that cannot be the old key comes back.
 */
export const repair = Effect.fn("CertificateFolder.repair")(function* (places: Places) {
  const path = chainPath(places)
  const key = keyPath(places)
  const staged = certificateOf(yield* PrivateFile.readStaged(path))
  const fits = isPair(staged, yield* PrivateFile.read(key))
  if (fits) yield* Effect.onError(PrivateFile.commit([path]), () => FileBackup.restore(key))
  else if (isPair(certificateOf(yield* PrivateFile.read(path)), yield* FileBackup.read(key)))
    yield* FileBackup.restore(key)
  yield* FileBackup.remove(key)
  yield* PrivateFile.discard([key, path, statePath(places)])
})
