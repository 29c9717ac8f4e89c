/**
 * The internal CA of the mesh plane (data-plane 1.3). It owns `edge-ca-key.pem` (0600) and `edge-ca-cert.der` beside the published
 * root, keeps the root's bytes stable across restarts, and renews the leaf while the process runs. It issues no other certificate.
 *
 * To change the key, move the two files to `edge-ca-key.old.pem` and `edge-ca-cert.old.der` and restart: agents that pinned the
 * old root trust the edge until that root expires, and new agents get the new root.
 */
import { mintCross, mintLeaf, mintRoot, pem } from "@catenet/crypto/x509/Certificate"
import { Entropy } from "@catenet/platform/Entropy"
import { retryForever } from "@catenet/platform/RetryForever"
import { Clock, Context, Duration, Effect, Layer, Path, Schedule } from "effect"
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { Settings } from "../settings/Settings.ts"
import { CertificateSource } from "../tls/CertificateSource.ts"
import * as DurableFile from "./DurableFile.ts"
import * as EdgeFileErrors from "./EdgeFileErrors.ts"

const commonName = "ct-edge-ca"
const rootLife = Duration.toMillis("3652 days")
const rootSpare = Duration.toMillis("91 days")
const leafLife = Duration.toMillis("90 days")
const leafRenewal = Duration.days(30)
/** Backdated, so that peers with a slow clock accept a new certificate. */
const skew = Duration.toMillis("1 hour")

/** Host names in the leaf: the name that agents ask for, and the inconspicuous name of the channels' front door. */
const leafHosts = ["localhost", "edge-cdn.invalid"]

const lostKey = "restore it from your backup; removing it makes a new authority, whose root every agent has to fetch"

const readKey = (path: string, content: Uint8Array) =>
  Effect.try({
    try: () => createPrivateKey(Buffer.from(content)),
    catch: () => EdgeFileErrors.damaged(path, "a private key in PEM", lostKey)
  })

const readCertificate = (path: string, content: Uint8Array) =>
  Effect.try({
    try: () => new X509Certificate(content),
    catch: () => EdgeFileErrors.damaged(path, "a certificate")
  })

const loadKey = (path: string) =>
  Effect.flatMap(
    DurableFile.readOrCreateSecret(path, () =>
      Buffer.from(Entropy.newEcKey().export({ format: "pem", type: "pkcs8" }))
    ),
    (content) => readKey(path, content)
  )

/** Whether the root belongs to the key and is valid for long enough. */
const usable = (root: X509Certificate, key: KeyObject, now: number) =>
  root.checkPrivateKey(key) && root.validToDate.getTime() - now > rootSpare

const loadRoot = Effect.fn("CertificateAuthority.loadRoot")(function* (path: string, key: KeyObject) {
  const now = yield* Clock.currentTimeMillis
  const stored = yield* DurableFile.read(path)
  if (stored !== undefined && usable(yield* readCertificate(path, stored), key, now)) return Buffer.from(stored)
  const root = mintRoot(commonName, key, { from: now - skew, until: now - skew + rootLife })
  yield* DurableFile.write({ path, bytes: root, mode: 0o644 })
  yield* Effect.logInfo("internal CA: new root certificate")
  return root
})

const publish = Effect.fn("CertificateAuthority.publish")(function* (path: string, root: Buffer) {
  const published = yield* DurableFile.read(path)
  if (published !== undefined && root.equals(published)) return
  yield* DurableFile.write({ path, bytes: root, mode: 0o644 })
})

/** The certificate with which the previous root certifies this one; undefined if there is no previous root. */
const loadCross = Effect.fn("CertificateAuthority.loadCross")(function* (folder: string, key: KeyObject) {
  const path = yield* Path.Path
  const oldKeyPath = path.join(folder, "edge-ca-key.old.pem")
  const oldRootPath = path.join(folder, "edge-ca-cert.old.der")
  const oldKey = yield* DurableFile.read(oldKeyPath)
  const oldRoot = yield* DurableFile.read(oldRootPath)
  if (oldKey === undefined || oldRoot === undefined) return undefined
  const now = yield* Clock.currentTimeMillis
  const issuerKey = yield* readKey(oldKeyPath, oldKey)
  const root = yield* readCertificate(oldRootPath, oldRoot)
  const until = root.validToDate.getTime()
  if (!root.checkPrivateKey(issuerKey) || until <= now) return undefined
  yield* Effect.logInfo("internal CA: the root before is still honoured").pipe(
    Effect.annotateLogs({ until: root.validToDate.toISOString() })
  )
  return mintCross(commonName, issuerKey, key, { from: now - skew, until })
})

const issueLeaf = Effect.fn("CertificateAuthority.issueLeaf")(function* (caKey: KeyObject, chain: Buffer) {
  const now = yield* Clock.currentTimeMillis
  const key = Entropy.newEcKey()
  const leaf = mintLeaf(commonName, caKey, key, leafHosts, { from: now - skew, until: now + leafLife })
  return { key: key.export({ format: "pem", type: "pkcs8" }).toString(), cert: pem(leaf) + pem(chain) }
})

export class CertificateAuthority extends Context.Service<
  CertificateAuthority,
  {
    /** The root as published, DER. */
    readonly root: Buffer
    /** The current leaf, replaced long before it expires. */
    readonly leaf: CertificateSource
  }
>()("edge/ca/CertificateAuthority") {
  static readonly make = Effect.gen(function* () {
    const { certOut } = yield* Settings
    const path = yield* Path.Path
    const folder = path.dirname(certOut)
    const key = yield* loadKey(path.join(folder, "edge-ca-key.pem"))
    const root = yield* loadRoot(path.join(folder, "edge-ca-cert.der"), key)
    yield* publish(certOut, root)
    const chain = (yield* loadCross(folder, key)) ?? root
    const leaf = new CertificateSource(yield* issueLeaf(key, chain))
    yield* Effect.forkScoped(
      issueLeaf(key, chain).pipe(
        Effect.map((fresh) => leaf.replace(fresh)),
        Effect.andThen(Effect.logInfo("internal CA: leaf certificate renewed")),
        Effect.schedule(Schedule.spaced(leafRenewal)),
        retryForever("renewing the leaf certificate of the internal CA")
      )
    )
    return { root, leaf }
  })
  static readonly layer = Layer.effect(this, this.make)
}
