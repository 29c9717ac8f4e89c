/**
 * What one client address and port sends to a public UDP port and gets from it, as the stream that is relayed to the agent: each
 * datagram behind its length. Datagrams that find no room are dropped, as on any network. Until its address is known, it gets at
 * most as many bytes as it has sent, so that a single datagram with a forged address is not multiplied.
 */
import { DatagramReader, encodeDatagram } from "@catenet/wire/frames/Datagrams"
import { Duplex } from "node:stream"

/** Bytes that may wait for the agent. */
const maxWaiting = 65_536

/** An address is known from its second datagram on. */
const sendsOfKnown = 2

/** What the sessions of one address have sent, and the bytes that they may still get while it is unknown. */
export interface Peer {
  sends: number
  credit: number
}

type Done = (error?: Error | null) => void

export interface SessionOptions {
  readonly client: { readonly address: string; readonly port: number }
  readonly server: { readonly address: string; readonly port: number }
  readonly now: () => number
  readonly send: (datagram: Buffer) => void
  readonly peer: Peer
}

export class UdpSession extends Duplex {
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localAddress: string
  readonly localPort: number
  lastUsed: number
  readonly #options: SessionOptions
  readonly #reader = new DatagramReader()
  readonly #over: Array<() => void> = []

  constructor(options: SessionOptions) {
    super({ readableHighWaterMark: maxWaiting, writableHighWaterMark: maxWaiting })
    const { client, now, server } = options
    this.remoteAddress = client.address
    this.remotePort = client.port
    this.localAddress = server.address
    this.localPort = server.port
    this.#options = options
    this.lastUsed = now()
    // Its relay listens too, and may be over before the last error.
    this.on("error", () => undefined)
  }

  get isKnown(): boolean {
    return this.#options.peer.sends >= sendsOfKnown
  }

  /** The client has sent a datagram. */
  receive(datagram: Buffer): void {
    this.lastUsed = this.#options.now()
    const { peer } = this.#options
    peer.sends += 1
    peer.credit += datagram.length
    const framed = this.readableLength + datagram.length > maxWaiting ? undefined : encodeDatagram(datagram)
    if (framed !== undefined && !this.destroyed) this.push(framed)
  }

  /** Calls back when the session is destroyed, at once: its place is free for the next one. */
  whenOver(over: () => void): void {
    if (this.destroyed) over()
    else this.#over.push(over)
  }

  override _destroy(error: Error | null, done: Done): void {
    for (const over of this.#over) over()
    done(error)
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    for (const datagram of this.#reader.push(chunk)) this.#reply(datagram)
    done()
  }

  override _final(done: Done): void {
    this.push(null)
    done()
  }

  #reply(datagram: Buffer): void {
    this.lastUsed = this.#options.now()
    const { peer } = this.#options
    if (!this.isKnown) {
      if (datagram.length > peer.credit) return
      peer.credit -= datagram.length
    }
    this.#options.send(datagram)
  }
}
