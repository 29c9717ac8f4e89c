/**
 * The fuzz run's end of each connection: it says its bytes in two pieces and leaves, in order or not. TLS sessions are
 * resumed, three of four in the cheaper TLS 1.2, so that tens of thousands of handshakes fit into a minute. Which seed used
 * which port is remembered.
 */
import { connect as connectTcp, type Socket } from "node:net"
import { connect, createSecureContext, type SecureContext, type SecureVersion, type TLSSocket } from "node:tls"
import type { Random } from "./Mutation.ts"

const LIFE_MILLIS = 25

export interface TlsTarget {
  readonly port: number
  readonly ca: string
  readonly name: string
  readonly alpn: ReadonlyArray<string>
  /** The cheaper TLS 1.2 is refused where a session is bound to its connection. */
  readonly lowest: SecureVersion
}

export class Clients {
  /** The seed of each connection, by the ports at its ends; a pair of ports is used again after its connection. */
  readonly seedOf = new Map<string, number>()
  readonly #contexts = new Map<string, SecureContext>()
  readonly #sessions = new Map<string, Buffer>()

  async tcp(port: number, bytes: Buffer, seed: number, chance: Random): Promise<void> {
    await this.#say(await this.#dial(port, seed), bytes, chance)
  }

  async tls(target: TlsTarget, bytes: Buffer, seed: number, chance: Random): Promise<void> {
    const raw = await this.#dial(target.port, seed)
    const version = chance.below(4) === 0 ? "TLSv1.3" : target.lowest
    await this.#say(await this.#secure(raw, target, version), bytes, chance)
  }

  #dial(port: number, seed: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connectTcp({ host: "127.0.0.1", port, noDelay: true }, () => {
        this.seedOf.set(`${socket.localPort} ${port}`, seed)
        resolve(socket)
      })
      socket.once("error", reject)
      socket.on("error", () => {})
    })
  }

  #secure(raw: Socket, { alpn, ca, name, port }: TlsTarget, maxVersion: SecureVersion): Promise<TLSSocket> {
    const kind = `${port} ${alpn.join()} ${maxVersion}`
    const secureContext = this.#contexts.get(kind) ?? createSecureContext({ ca, maxVersion })
    this.#contexts.set(kind, secureContext)
    const session = this.#sessions.get(kind)
    return new Promise((resolve, reject) => {
      const socket = connect(
        {
          socket: raw,
          servername: name,
          secureContext,
          ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] }),
          ...(session === undefined ? {} : { session })
        },
        () => resolve(socket)
      )
      socket.on("session", (fresh) => this.#sessions.set(kind, fresh))
      socket.once("error", reject)
      socket.on("error", () => {})
    })
  }

  #say(socket: Socket, bytes: Buffer, { below }: Random): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => socket.destroy(), LIFE_MILLIS)
      socket.once("close", () => {
        clearTimeout(timer)
        resolve()
      })
      socket.on("data", () => {})
      const cut = below(bytes.length + 1)
      const endsInOrder = below(3) === 0
      socket.write(bytes.subarray(0, cut))
      setImmediate(() => {
        if (socket.destroyed) return
        socket.write(bytes.subarray(cut))
        if (endsInOrder) socket.end()
      })
    })
  }
}
