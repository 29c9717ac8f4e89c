/**
 * A visitor of a public port in an admission of role `M`, in the place of a host name: protocol, tunnel, port, and the visitor's
 * address. No host name contains a slash, so an edge that does not know this form refuses the visitor like one of an unknown host.
 */
import { isIP } from "@catenet/platform/IpAddress"
import type { Address } from "@catenet/platform/ProxyProtocol"

export interface PeerPort {
  readonly protocol: "tcp" | "udp"
  /** The visitor token of the tunnel, in hex. */
  readonly tunnel: string
  /** The public port that the visitor came to. */
  readonly port: number
  readonly client: Address
}

const form = /^(tcp|udp)\/([0-9a-f]{64})\/(\d{1,5})\/([0-9A-Fa-f.:]{2,45})\/(\d{1,5})$/u

const isPort = (port: number) => port >= 1 && port <= 65_535

export const encodePeerPort = ({ client, port, protocol, tunnel }: PeerPort): string =>
  `${protocol}/${tunnel}/${port}/${client.address}/${client.port}`

/** Undefined for host names and everything else. */
export const decodePeerPort = (text: string): PeerPort | undefined => {
  const [, protocol, tunnel = "", at, address = "", from] = form.exec(text) ?? []
  const port = Number(at)
  const client = { address, port: Number(from) }
  if (!isPort(port) || !isPort(client.port) || isIP(address) === 0) return undefined
  return { protocol: protocol === "udp" ? "udp" : "tcp", tunnel, port, client }
}
