/**
 * Keeps the certificate of the edge up with the tunnels of the stack: clients accept no wildcard of one label, so every
 * name below `localhost` stands in it. The edge follows the file, and serves a new name within a few seconds.
 */
import * as Certificates from "@catenet/crypto/x509/Certificate"
import { Entropy } from "@catenet/platform/Entropy"
import { Files } from "@catenet/platform/Files"
import * as PrivateFile from "@catenet/platform/PrivateFile"
import * as OutgoingHttp from "@catenet/server/internal/http/OutgoingHttp"
import { Clock, Effect, Schedule, Schema } from "effect"
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { makeInFolder } from "../StartFailed.ts"
import * as Demo from "./Demo.ts"
import * as Environments from "./Environments.ts"
import type { Secrets } from "./Secrets.ts"
import type { UpSettings } from "./Settings.ts"
import type { StackFolder } from "./StackFolder.ts"

/**
 * A certificate authority for one machine: its root is written for people to trust, and it signs the certificate with
 * which the edge answers for the names of the demo zone. Its key never leaves the folder. A thief of the key can
 * impersonate names of this machine alone: the root's name constraints permit `localhost`, names below it, and loopback.
 */
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

const keyText = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" })

const makeAuthority = (folder: StackFolder, now: number): Authority => {
  const key = Entropy.newEcKey()
  const commonName = `Catenet development root ${new Date(now).toISOString().slice(0, 10)}`
  const root = Certificates.pem(
    Certificates.mintRoot(commonName, key, { from: now - day, until: now + rootDays * day }, loopback)
  )
  PrivateFile.replaceNow(folder.developmentRootKey, keyText(key))
  Files.writeFileSync(folder.developmentRoot, root, { flush: true })
  return { commonName, root, key }
}

/** A root of one year at most, with time left. */
const isUsable = (root: X509Certificate, now: number) => {
  const until = Date.parse(root.validTo)
  return until - now > renewDays * day && until - Date.parse(root.validFrom) <= (rootDays + 1) * day
}

const authority = (folder: StackFolder, now: number): Authority => {
  if (!Files.existsSync(folder.developmentRootKey) || !Files.existsSync(folder.developmentRoot))
    return makeAuthority(folder, now)
  const root = Files.readFileSync(folder.developmentRoot, "utf8")
  const certificate = new X509Certificate(root)
  if (!isUsable(certificate, now)) return makeAuthority(folder, now)
  Files.chmodSync(folder.developmentRootKey, 0o600)
  return {
    commonName: certificate.subject.replace(/^CN=/, ""),
    root,
    key: createPrivateKey(Files.readFileSync(folder.developmentRootKey))
  }
}

const isCurrent = (folder: StackFolder, names: ReadonlyArray<string>, root: string, now: number) => {
  if (!Files.existsSync(folder.wildcardCertificate) || !Files.existsSync(folder.wildcardKey)) return false
  const leaf = new X509Certificate(Files.readFileSync(folder.wildcardCertificate))
  const present = leaf.subjectAltName?.split(", ").map((entry) => entry.replace(/^DNS:/, "")) ?? []
  const signed = leaf.verify(new X509Certificate(root).publicKey)
  return signed && names.every((name) => present.includes(name)) && Date.parse(leaf.validTo) - now > renewDays * day
}

const makeLeaf = (folder: StackFolder, names: ReadonlyArray<string>, issuer: Authority, now: number) => {
  const key = Entropy.newEcKey()
  const validity = { from: now - day, until: now + leafDays * day }
  const leaf = Certificates.pem(Certificates.mintLeaf(issuer.commonName, issuer.key, key, names, validity))
  PrivateFile.replaceNow(folder.wildcardKey, keyText(key))
  Files.writeFileSync(folder.wildcardCertificate, `${leaf}${issuer.root}`)
}

/**
 * Makes root and leaf where they are missing or old, and returns whether the root is a new one, which people have to
 * import again. `names` are the DNS names of the leaf.
 */
export const ensureDevelopmentCertificates = Effect.fn("DevelopmentNames.ensure")(function* (
  folder: StackFolder,
  names: ReadonlyArray<string>
) {
  const now = yield* Clock.currentTimeMillis
  return yield* makeInFolder("CT_STACK_FOLDER", () => {
    const known = Files.existsSync(folder.developmentRoot)
      ? Files.readFileSync(folder.developmentRoot, "utf8")
      : undefined
    const issuer = authority(folder, now)
    if (!isCurrent(folder, names, issuer.root, now)) makeLeaf(folder, names, issuer, now)
    return { renewed: known !== undefined && known !== issuer.root }
  })
})

const base = ["localhost", Environments.portalHost, Demo.demoHostname, `*.${Demo.zone}`]

/** More names would make a certificate that handshakes notice. */
const most = 500

const ask = OutgoingHttp.fetchOf(OutgoingHttp.longestAnswer)

const readTunnels = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ hostname: Schema.NullOr(Schema.String) })))

/** Root and certificate as they are at the start; true where people have to import the root again. */
export const ensure = (folder: StackFolder) => ensureDevelopmentCertificates(folder, base)

const namesOf = (settings: UpSettings, { edgeAdminToken }: Secrets) =>
  Effect.tryPromise(async (signal) => {
    const response = await ask(`${Environments.url(settings.controlPlane)}/admin/provision-tunnel?limit=${most}`, {
      headers: { "x-ct-admin-token": edgeAdminToken },
      signal
    })
    return readTunnels(await response.json()).flatMap(({ hostname }) =>
      hostname?.endsWith(".localhost") === true ? [hostname] : []
    )
  }).pipe(Effect.timeout("5 seconds"))

/** Asks for the tunnels every second, for as long as the scope lives; a control plane that is away is asked again. */
export const follow = (settings: UpSettings, folder: StackFolder, secrets: Secrets) =>
  namesOf(settings, secrets).pipe(
    Effect.flatMap((names) => ensureDevelopmentCertificates(folder, [...new Set([...base, ...names])])),
    Effect.ignore,
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.forkScoped
  )
