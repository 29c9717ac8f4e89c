/** Which session of a public UDP port a datagram belongs to, when sessions begin, and when they end. */
import { addressBlock } from "@catenet/platform/IpAddress"
import { type Peer, UdpSession } from "./UdpSession.ts"

/** A session without a datagram in either direction is idle after this time. */
export const idleMillis = 60_000
/** Bytes that may wait for the network card. */
const maxUnsent = 1_048_576

interface Client {
  readonly address: string
  readonly port: number
}

/** The socket of the port, as far as it sends. */
export interface Replies {
  readonly getSendQueueSize: () => number
  readonly send: (datagram: Buffer, port: number, address: string) => unknown
}

export interface UdpSessionsOptions {
  readonly server: Client
  readonly now: () => number
  /** Relays a session that begins; false if it has no place. */
  readonly visit: (token: string, session: UdpSession) => boolean
}

/** The sessions of one port. */
export class UdpSessions {
  readonly #all = new Map<string, UdpSession>()
  /** By address, with the number of its sessions. */
  readonly #peers = new Map<string, Peer & { sessions: number }>()
  readonly #socket: Replies
  readonly #options: UdpSessionsOptions

  constructor(socket: Replies, options: UdpSessionsOptions) {
    this.#socket = socket
    this.#options = options
  }

  receive(token: string, datagram: Buffer, from: Client): void {
    const key = `${from.address} ${from.port}`
    const session = this.#all.get(key) ?? this.#begin(token, key, from)
    session?.receive(datagram)
  }

  /** Ends those that are idle. */
  sweep(): void {
    const now = this.#options.now()
    for (const session of this.#all.values()) if (now - session.lastUsed >= idleMillis) session.destroy()
  }

  close(): void {
    for (const session of this.#all.values()) session.destroy()
  }

  /** An address that has no place left loses its own oldest session. */
  #begin(token: string, key: string, from: Client): UdpSession | undefined {
    const begun = this.#enter(token, key, from)
    if (begun !== undefined) return begun
    const block = addressBlock(from.address)
    for (const session of this.#all.values())
      if (addressBlock(session.remoteAddress) === block) {
        session.destroy()
        return this.#enter(token, key, from)
      }
    return undefined
  }

  #enter(token: string, key: string, { address, port }: Client): UdpSession | undefined {
    const peer = this.#peers.get(address) ?? { sends: 0, credit: 0, sessions: 0 }
    const session = new UdpSession({
      client: { address, port },
      server: this.#options.server,
      now: this.#options.now,
      send: (datagram) => {
        if (this.#socket.getSendQueueSize() <= maxUnsent) this.#socket.send(datagram, port, address)
      },
      peer
    })
    peer.sessions += 1
    this.#peers.set(address, peer)
    session.whenOver(() => this.#leave(key, session))
    if (!this.#options.visit(token, session)) {
      session.destroy()
      return undefined
    }
    this.#all.set(key, session)
    return session
  }

  #leave(key: string, session: UdpSession): void {
    if (this.#all.get(key) === session) this.#all.delete(key)
    const peer = this.#peers.get(session.remoteAddress)
    if (peer === undefined) return
    peer.sessions -= 1
    if (peer.sessions === 0) this.#peers.delete(session.remoteAddress)
  }
}
