/**
 * What an agent says of its certificate for a host: whether it can end the TLS of the host's visitors, and whether it has an
 * order open whose proof it shows (TLS-ALPN-01). A registration says it at the start, a frame of its own whenever it changes;
 * edges of before skip both. On the wire: certificate u8, order u8, host.
 */
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { type Malformed, malformed, view } from "./Frame.ts"
import { normalServedHost } from "./HostName.ts"
import { text } from "./MuxFields.ts"
import { maxHostBytes } from "./Role.ts"

/** `unknown`: the origin may hold one, and the agent passes the bytes on unread. */
const certificates = ["unknown", "none", "held"] as const
const orders = ["none", "open"] as const

export interface CertificateState {
  readonly certificate: (typeof certificates)[number]
  readonly order: (typeof orders)[number]
}

export interface HostCertificate extends CertificateState {
  /** In host normal form. */
  readonly host: string
}

const stateBytes = 2
export const minCertificateBytes = stateBytes + 1
export const maxCertificateBytes = stateBytes + maxHostBytes

export const encodeCertificate = ({ certificate, host, order }: HostCertificate): Buffer =>
  Buffer.concat([Uint8Array.of(certificates.indexOf(certificate), orders.indexOf(order)), text(host)])

export const decodeCertificate = (bytes: Uint8Array): Result.Result<HostCertificate, Malformed> => {
  const buffer = view(bytes)
  if (buffer.length < minCertificateBytes || buffer.length > maxCertificateBytes)
    return malformed("certificate state length")
  const certificate = certificates[buffer.readUInt8(0)]
  const order = orders[buffer.readUInt8(1)]
  if (certificate === undefined || order === undefined) return malformed("certificate state")
  const host = buffer.toString("utf8", stateBytes)
  return normalServedHost(host) === host ? Result.succeed({ host, certificate, order }) : malformed("certificate host")
}
