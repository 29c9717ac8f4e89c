/**
 * The certificate's folder: `privkey.pem`, `fullchain.pem`, `acme-account-key.der`, and `acme-state.json` with what must survive
 * the process: the accounts, an open order and its key, and whether the control plane still has to be notified. Every file is
 * replaced atomically; the key before the chain.
 */
import { Entropy } from "@catenet/platform/Entropy"
import { Effect, FileSystem, Schema } from "effect"
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { StateUnusable } from "../Failure.ts"
import * as KeyFile from "../state/KeyFile.ts"
import * as PrivateFile from "../state/PrivateFile.ts"

const Account = Schema.Struct({ directory: Schema.String, thumbprint: Schema.String, url: Schema.String })

const OpenOrder = Schema.Struct({
  ca: Schema.String,
  directory: Schema.String,
  hostname: Schema.String,
  url: Schema.String,
  /** Key of the certificate, PKCS #8 as PEM. */
  key: Schema.String
})

const CertificateState = Schema.Struct({
  accounts: Schema.Array(Account).check(Schema.isMaxLength(100)),
  order: Schema.optionalKey(OpenOrder),
  /** An order is being placed, and the server's response has not been stored yet. */
  placing: Schema.optionalKey(Schema.Struct({ directory: Schema.String, hostname: Schema.String })),
  /** The host name whose certificate must still be reported to the control plane. */
  completion: Schema.optionalKey(Schema.String),
  /** The last ordered certificate: its SHA-256 and its CA's directory. */
  issued: Schema.optionalKey(Schema.Struct({ fingerprint: Schema.String, directory: Schema.String })),
  /** SHA-256 of a certificate that the server has not loaded yet. */
  unloaded: Schema.optionalKey(Schema.String),
  /** SHA-256 of a revoked certificate, which counts as missing. */
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

/** The pair and its stored state. */
export const filesOf = (places: Places): ReadonlyArray<string> => [
  chainPath(places),
  keyPath(places),
  statePath(places)
]

/** Readable by others if the umask allows it: the chain is public, and web servers read it. */
const publicMode = 0o644

export const newKey = (): KeyObject => Entropy.newEcKey()
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

/** The stored state. A file that cannot be parsed is an error, because the open order and the accounts would be lost. */
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

/** The account's key, created on first use. An unreadable key is an error and is not replaced. */
export const accountKey = Effect.fn("CertificateFolder.accountKey")(function* ({ accountKey: path }: Places) {
  const bytes = yield* KeyFile.read(path)
  if (bytes === undefined) {
    // A dangling link: the key may be on a disk that is not mounted.
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

/** Fails if a new pair could not be installed, before the CA is asked for one. */
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

/** The leaf of the installed pair; undefined unless key and chain match. */
export const leaf = Effect.fn("CertificateFolder.leaf")(function* (places: Places) {
  const certificate = certificateOf(yield* PrivateFile.read(chainPath(places)))
  return isPair(certificate, yield* PrivateFile.read(keyPath(places))) ? certificate : undefined
})

const certificates = /-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]+-----END CERTIFICATE-----/g

/** The certificates in `fullchain.pem`, without text between them; undefined if there are none. */
export const chain = Effect.fn("CertificateFolder.chain")(function* (places: Places) {
  const bytes = yield* PrivateFile.read(chainPath(places))
  return new TextDecoder().decode(bytes).match(certificates)?.join("\n")
})

/** Whether both files exist, whatever their content. */
export const isThere = Effect.fn("CertificateFolder.isThere")(function* (places: Places) {
  const fs = yield* FileSystem.FileSystem
  const has = (path: string) => Effect.orElseSucceed(fs.exists(path), () => true)
  return (yield* has(keyPath(places))) && (yield* has(chainPath(places)))
})

/** Whether the pair exists and the server that uses it has loaded it. */
export const isServed = Effect.fn("CertificateFolder.isServed")(function* (places: Places) {
  const found = yield* leaf(places)
  return found !== undefined && (yield* readState(places)).unloaded !== found.fingerprint256
})

/**
 * Completes a replacement that was interrupted between the two files: installs the staged chain of a new key, or else restores
 * the old key.
 */
export const repair = Effect.fn("CertificateFolder.repair")(function* (places: Places) {
  const path = chainPath(places)
  const key = keyPath(places)
  const staged = certificateOf(yield* PrivateFile.readStaged(path))
  const fits = isPair(staged, yield* PrivateFile.read(key))
  if (fits) yield* Effect.onError(PrivateFile.commit([path]), () => PrivateFile.restoreBackup(key))
  else if (isPair(certificateOf(yield* PrivateFile.read(path)), yield* PrivateFile.readBackup(key)))
    yield* PrivateFile.restoreBackup(key)
  yield* PrivateFile.removeBackup(key)
  yield* PrivateFile.discard([key, path, statePath(places)])
})
