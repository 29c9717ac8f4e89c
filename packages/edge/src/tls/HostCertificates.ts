/**
 * Certificates that the control plane has ordered for the platform's own names and for gelb hosts, and what authorities are shown
 * that validate one of them (RFC 8737). Never written to disk or logs.
 */
import { createSecureContext, Sockets } from "@catenet/platform/Sockets"
import type { ClientHello } from "@catenet/wire/frames/ClientHello"
import { serverTls } from "@catenet/wire/transport/ServerTls"
import { Context, Effect, Layer } from "effect"
import type { Socket } from "node:net"
import type { SecureContext } from "node:tls"
import { Settings } from "../settings/Settings.ts"
import type { Pair } from "./CertificateSource.ts"

/** A certificate authority validates a host by this protocol, and offers no other. */
const acmeAlpn = "acme-tls/1"
const handshakeMillis = 10_000

/** What an edge knows of one host. */
export interface HostCertificate {
  readonly host: string
  readonly certificate: Pair | null
  readonly challenge: Pair | null
}

const wildcardOf = (host: string) => `*${host.slice(Math.max(host.indexOf("."), 0))}`

export class HostCertificateStore {
  readonly #held = new Map<string, HostCertificate>()
  readonly #contexts = new Map<string, SecureContext>()
  readonly #listeners = new Set<(changed: ReadonlyArray<HostCertificate>) => void>()

  /** Adds to what was given before, or replaces it. */
  give(changed: ReadonlyArray<HostCertificate>): void {
    for (const each of changed) {
      this.#held.set(each.host, each)
      this.#contexts.delete(each.host)
    }
    for (const listener of this.#listeners) listener(changed)
  }

  get contents(): ReadonlyArray<HostCertificate> {
    return [...this.#held.values()]
  }

  onChanged(listener: (changed: ReadonlyArray<HostCertificate>) => void): void {
    this.#listeners.add(listener)
  }

  #nameOf(host: string): string | undefined {
    return [host, wildcardOf(host)].find((name) => (this.#held.get(name)?.certificate ?? null) !== null)
  }

  has(host: string): boolean {
    return this.#nameOf(host) !== undefined
  }

  /** Of the host's own certificate, or of the wildcard above it; made when it is asked for first. */
  readonly contextOf = (host: string): SecureContext | undefined => {
    const name = this.#nameOf(host)
    const pair = name === undefined ? null : (this.#held.get(name)?.certificate ?? null)
    if (name === undefined || pair === null) return undefined
    const known = this.#contexts.get(name)
    if (known !== undefined) return known
    const context = createSecureContext({ ...pair, ...serverTls })
    this.#contexts.set(name, context)
    return context
  }

  /**
   * Answers an authority that validates a host whose order is open here, and returns whether it did. The caller has read the
   * hello and put it back.
   */
  answer({ alpn, serverName }: ClientHello, socket: Socket): boolean {
    if (serverName === undefined || alpn.length !== 1 || alpn[0] !== acmeAlpn) return false
    const challenge = this.#held.get(serverName)?.challenge ?? null
    if (challenge === null) return false
    Sockets.tlsServer({ ...challenge, ...serverTls, handshakeTimeout: handshakeMillis, ALPNProtocols: [acmeAlpn] })
      .on("secureConnection", (secured) => {
        secured.on("error", () => undefined)
        secured.end()
        secured.resume()
      })
      .on("tlsClientError", (_error, secured) => secured.destroy())
      .emit("connection", socket)
    return true
  }
}

export class HostCertificates extends Context.Service<HostCertificates, HostCertificateStore | undefined>()(
  "edge/tls/HostCertificates"
) {
  static readonly make = Effect.map(Settings, ({ platformCertificates }) =>
    platformCertificates ? new HostCertificateStore() : undefined
  )
  static readonly layer = Layer.effect(this, this.make)
}
