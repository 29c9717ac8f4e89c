/**
 * Connections, datagrams and names: dialling, listening, resolving. A seam (see `Seam`); servers listen to nothing until they are told to. The
 * classes and functions above do no I/O of their own.
 */
import * as dgram from "node:dgram"
import * as dns from "node:dns/promises"
import * as net from "node:net"
import * as tls from "node:tls"

export { Socket } from "node:net"
export { checkServerIdentity, createSecureContext, getCACertificates, rootCertificates, TLSSocket } from "node:tls"

export interface Sockets {
  readonly dialTcp: typeof net.connect
  readonly dialTls: typeof tls.connect
  readonly tcpServer: typeof net.createServer
  readonly tlsServer: typeof tls.createServer
  readonly udpSocket: typeof dgram.createSocket
  /** As the system resolves names, with its own files. */
  readonly lookup: typeof dns.lookup
  /** Asks name servers; those of the system unless it is given others. */
  readonly resolver: (options?: ConstructorParameters<typeof dns.Resolver>[0]) => dns.Resolver
}

export const Sockets: Sockets = {
  dialTcp: net.connect,
  dialTls: tls.connect,
  tcpServer: net.createServer,
  tlsServer: tls.createServer,
  udpSocket: dgram.createSocket,
  lookup: dns.lookup,
  resolver: (options) => new dns.Resolver(options)
}
