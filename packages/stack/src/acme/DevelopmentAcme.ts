/**
 * The ACME servers of a stack: two authorities that issue from its development root and validate at its front door. One of them
 * takes only accounts that are bound to one of the operator's, as public authorities do.
 */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { mintChallengeExtension } from "@catenet/crypto/x509/Certificate"
import { Entropy } from "@catenet/platform/Entropy"
import { Sockets } from "@catenet/platform/Sockets"
import { Redacted } from "effect"
import { createHash } from "node:crypto"
import { listen, type Listening } from "./AcmeListener.ts"
import { AcmeProblem } from "./AcmeProblem.ts"
import { boundAccount, boundPath } from "./AcmeRequest.ts"
import { AcmeServer } from "./AcmeServer.ts"
import type { DevelopmentRoot } from "./DevelopmentRoot.ts"

/** How long the proof of a host name is waited for. */
const waitMillis = 10_000

/** Where the front door of this stack is, at which every name is validated. */
export interface FrontDoor {
  readonly host: string
  readonly port: number
}

/** TLS-ALPN-01 (RFC 8737). Fails unless the server that has the name shows a certificate with the proof. */
export const byTls = async ({ host, port }: FrontDoor, name: string, keyAuthorization: string) => {
  const socket = Sockets.dialTls({
    host,
    port,
    servername: name,
    ALPNProtocols: ["acme-tls/1"],
    // The certificate is its own proof; no authority signed it.
    rejectUnauthorized: false,
    timeout: waitMillis
  })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("secureConnect", resolve)
      socket.once("error", (error) => reject(new AcmeProblem("connection", `${name}: ${error.message}`)))
      socket.once("timeout", () => reject(new AcmeProblem("connection", `${name} does not answer`)))
    })
    const certificate = socket.getPeerX509Certificate()
    if (socket.alpnProtocol !== "acme-tls/1" || certificate === undefined)
      throw new AcmeProblem("unauthorized", `${name} does not speak acme-tls/1`)
    if (certificate.subjectAltName !== `DNS:${name}`)
      throw new AcmeProblem(
        "unauthorized",
        `${name} shows a certificate for ${certificate.subjectAltName ?? "no name"}`
      )
    if (!certificate.raw.includes(mintChallengeExtension(keyAuthorization)))
      throw new AcmeProblem("unauthorized", `${name} shows another proof`)
    // The handshake is not over for the other side before this side's last message has left.
    socket.on("error", () => undefined)
    socket.once("timeout", () => socket.destroy())
    socket.end()
  } catch (problem) {
    socket.destroy()
    throw problem
  }
}

/** DNS-01. Fails unless the name server answers with the proof. */
export const byDns = async (server: string | undefined, name: string, keyAuthorization: string) => {
  const wanted = createHash("sha256").update(keyAuthorization).digest("base64url")
  const resolver = Sockets.resolver({ timeout: waitMillis, tries: 1 })
  if (server !== undefined) resolver.setServers([server])
  const records = await resolver.resolveTxt(`_acme-challenge.${name}`).catch((error: Error) => {
    throw new AcmeProblem("dns", `_acme-challenge.${name}: ${error.message}`)
  })
  if (!records.some((record) => record.join("") === wanted))
    throw new AcmeProblem("unauthorized", `_acme-challenge.${name} has another value`)
}

const day = 86_400_000

export interface Options extends FrontDoor {
  readonly listen: FrontDoor
  readonly root: DevelopmentRoot
  readonly lifetimeMillis: number
  /** HMAC key of the external account, base64url. */
  readonly bindingKey: Redacted.Redacted
  /** `host:port` of the name server that is asked for DNS-01; undefined for those of this system. */
  readonly nameServer: string | undefined
  readonly now: () => number
}

export const serve = ({
  bindingKey,
  host,
  lifetimeMillis,
  listen: at,
  nameServer,
  now,
  port,
  root
}: Options): Promise<Listening> => {
  const issuer = { commonName: root.commonName, root: root.pem, key: root.key }
  const own = Entropy.newEcKey()
  const validity = { from: now() - day, until: now() + 89 * day }
  const server = (base: string, binding: { readonly kid: string; readonly hmac: Uint8Array } | undefined) =>
    new AcmeServer({
      base,
      issuer,
      lifetimeMillis,
      binding,
      methods: ["tls-alpn-01", "dns-01"],
      validate: (method, name, proof) =>
        method === "dns-01" ? byDns(nameServer, name, proof) : byTls({ host, port }, name, proof),
      now
    })
  const hmac = Buffer.from(Redacted.value(bindingKey), "base64url")
  return listen({
    ...at,
    certificate: Certificate.pem(Certificate.mintLeaf(issuer.commonName, issuer.key, own, ["localhost"], validity)),
    key: own.export({ type: "pkcs8", format: "pem" }).toString(),
    servers: (bound) => [
      { path: boundPath, server: server(`https://localhost:${bound}${boundPath}`, { kid: boundAccount, hmac }) },
      { path: "", server: server(`https://localhost:${bound}`, undefined) }
    ]
  })
}
