/**
 * A certificate authority for one machine: its root is written for people to trust, and it signs the certificate with
 * which the edge answers for the names of the demo zone. Its key never leaves the folder. A thief of the key can
 * impersonate names of this machine alone: the root's name constraints permit `localhost`, names below it, and loopback.
 */
import * as Certificates from "@catenet/crypto/x509/Certificate"
import { Clock, Effect } from "effect"
import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto"
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import * as FolderErrors from "../FolderErrors.ts"
import * as PrivateFile from "./PrivateFile.ts"
import type { StackFolder } from "./StackFolder.ts"

const day = 86_400_000
const rootDays = 365
const leafDays = 90
/** A certificate with less than this left is replaced at the next start. */
const renewDays = 30

const loopback: Certificates.NameConstraints = {
  dns: ["localhost"],
  networks: [
    { address: Buffer.of(127, 0, 0, 0), mask: Buffer.of(255, 0, 0, 0) },
    { address: Buffer.concat([Buffer.alloc(15), Buffer.of(1)]), mask: Buffer.alloc(16, 255) }
  ]
}

interface Authority {
  readonly commonName: string
  readonly root: string
  readonly key: KeyObject
}

const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
const keyText = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" })

const makeAuthority = (folder: StackFolder, now: number): Authority => {
  const key = newKey()
  const commonName = `Catenet development root ${new Date(now).toISOString().slice(0, 10)}`
  const root = Certificates.pem(
    Certificates.mintRoot(commonName, key, { from: now - day, until: now + rootDays * day }, loopback)
  )
  PrivateFile.write(folder.developmentRootKey, keyText(key))
  writeFileSync(folder.developmentRoot, root, { flush: true })
  return { commonName, root, key }
}

/** A root of one year at most, with time left. */
const isUsable = (root: X509Certificate, now: number) => {
  const until = Date.parse(root.validTo)
  return until - now > renewDays * day && until - Date.parse(root.validFrom) <= (rootDays + 1) * day
}

const authority = (folder: StackFolder, now: number): Authority => {
  if (!existsSync(folder.developmentRootKey) || !existsSync(folder.developmentRoot)) return makeAuthority(folder, now)
  const root = readFileSync(folder.developmentRoot, "utf8")
  const certificate = new X509Certificate(root)
  if (!isUsable(certificate, now)) return makeAuthority(folder, now)
  chmodSync(folder.developmentRootKey, 0o600)
  return {
    commonName: certificate.subject.replace(/^CN=/, ""),
    root,
    key: createPrivateKey(readFileSync(folder.developmentRootKey))
  }
}

const isCurrent = (folder: StackFolder, names: ReadonlyArray<string>, root: string, now: number) => {
  if (!existsSync(folder.wildcardCertificate) || !existsSync(folder.wildcardKey)) return false
  const leaf = new X509Certificate(readFileSync(folder.wildcardCertificate))
  const present = leaf.subjectAltName?.split(", ").map((entry) => entry.replace(/^DNS:/, "")) ?? []
  const signed = leaf.verify(new X509Certificate(root).publicKey)
  return signed && names.every((name) => present.includes(name)) && Date.parse(leaf.validTo) - now > renewDays * day
}

const makeLeaf = (folder: StackFolder, names: ReadonlyArray<string>, issuer: Authority, now: number) => {
  const key = newKey()
  const validity = { from: now - day, until: now + leafDays * day }
  const leaf = Certificates.pem(Certificates.mintLeaf(issuer.commonName, issuer.key, key, names, validity))
  PrivateFile.write(folder.wildcardKey, keyText(key))
  writeFileSync(folder.wildcardCertificate, `${leaf}${issuer.root}`)
}

/**
 * Makes root and leaf where they are missing or old, and returns whether the root is a new one, which people have to
 * import again. `names` are the DNS names of the leaf.
 */
export const ensure = Effect.fn("DevelopmentCertificates.ensure")(function* (
  folder: StackFolder,
  names: ReadonlyArray<string>
) {
  const now = yield* Clock.currentTimeMillis
  return yield* FolderErrors.make("CT_STACK_FOLDER", () => {
    const known = existsSync(folder.developmentRoot) ? readFileSync(folder.developmentRoot, "utf8") : undefined
    const issuer = authority(folder, now)
    if (!isCurrent(folder, names, issuer.root, now)) makeLeaf(folder, names, issuer, now)
    return { renewed: known !== undefined && known !== issuer.root }
  })
})
