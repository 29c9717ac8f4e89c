/** Asks for the proof of a host name as an authority does: by TLS-ALPN-01 (RFC 8737) and by DNS-01. */
import { mintChallengeExtension } from "@catenet/crypto/x509/Certificate"
import { createHash } from "node:crypto"
import { Resolver } from "node:dns/promises"
import { connect } from "node:tls"
import { AcmeProblem } from "./AcmeProblem.ts"

const waitMillis = 10_000

/** Where the front door of this stack is, at which every name is validated. */
export interface FrontDoor {
  readonly host: string
  readonly port: number
}

/** Fails unless the server that has the name shows a certificate with the proof. */
export const byTls = async ({ host, port }: FrontDoor, name: string, keyAuthorization: string) => {
  const socket = connect({
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

/** Fails unless the name server answers with the proof. */
export const byDns = async (server: string | undefined, name: string, keyAuthorization: string) => {
  const wanted = createHash("sha256").update(keyAuthorization).digest("base64url")
  const resolver = new Resolver({ timeout: waitMillis, tries: 1 })
  if (server !== undefined) resolver.setServers([server])
  const records = await resolver.resolveTxt(`_acme-challenge.${name}`).catch((error: Error) => {
    throw new AcmeProblem("dns", `_acme-challenge.${name}: ${error.message}`)
  })
  if (!records.some((record) => record.join("") === wanted))
    throw new AcmeProblem("unauthorized", `_acme-challenge.${name} has another value`)
}
