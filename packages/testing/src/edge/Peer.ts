import { connect as connectTcp } from "node:net"
import type { Duplex } from "node:stream"
import { setImmediate } from "node:timers/promises"
import { connect, type TLSSocket } from "node:tls"

/** A connection that is read by exact byte counts. */
export class Peer {
  #held: Buffer = Buffer.alloc(0)
  #waiting: (() => void) | undefined
  ended = false
  readonly socket: Duplex

  constructor(socket: Duplex) {
    this.socket = socket
    const wake = () => this.#waiting?.()
    socket.on("data", (chunk: Buffer) => {
      this.#held = Buffer.concat([this.#held, chunk])
      wake()
    })
    for (const event of ["end", "close", "error"]) {
      socket.on(event, () => {
        this.ended = true
        wake()
      })
    }
  }

  static readonly to = (
    port: number,
    ca: string,
    alpn: ReadonlyArray<string> = [],
    servername = "localhost",
    localAddress = "127.0.0.1"
  ) =>
    new Promise<Peer>((resolve, reject) => {
      const raw = connectTcp({ host: "127.0.0.1", port, localAddress, allowHalfOpen: true, noDelay: true })
      const options = { socket: raw, servername, ca }
      const socket: TLSSocket = connect(alpn.length === 0 ? options : { ...options, ALPNProtocols: [...alpn] }, () =>
        resolve(new Peer(socket))
      )
      socket.once("error", reject)
    })

  send(...parts: ReadonlyArray<Uint8Array | number>) {
    this.socket.write(Buffer.concat(parts.map((part) => (typeof part === "number" ? Buffer.of(part) : part))))
  }

  /** Bytes that came and were not taken. */
  get held(): number {
    return this.#held.length
  }

  /** Exactly `bytes` bytes, or what came before the end. */
  async take(bytes: number): Promise<Buffer> {
    while (this.#held.length < bytes && !this.ended) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve
      })
    }
    const taken = this.#held.subarray(0, bytes)
    this.#held = this.#held.subarray(taken.length)
    return taken
  }

  /** A few turns of the loop, or fewer until so many bytes are there or it has ended. */
  async soon(bytes: number): Promise<void> {
    for (let turns = 0; turns < 30 && this.#held.length < bytes && !this.ended; turns++) await setImmediate()
  }

  /** Everything until the end. */
  async rest(): Promise<Buffer> {
    while (!this.ended) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve
      })
    }
    return this.take(this.#held.length)
  }
}
