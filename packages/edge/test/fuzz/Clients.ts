/**
 * The fuzz run's end of each connection: it says its bytes in two pieces and leaves, in order or not. TLS sessions are
 * resumed, three of four in the cheaper TLS 1.2, so that tens of thousands of handshakes fit into a minute. Which seed used
 * which port is remembered, and to how many of each kind the edge said something: an edge that turns the run away would pass all
 * else. They come from many addresses of the loopback network, since limits for one address would do so.
 */
import type { Random } from "@catenet/testing/edge/fuzz/Mutation"
import { connect as connectTcp, type Socket } from "node:net"
import { connect, createSecureContext, type SecureContext, type SecureVersion, type TLSSocket } from "node:tls"

const lifeMillis = 25
/**
 * The edge runs in the same event loop: a turn of it may take longer than a life, which would then end before anything is read. In
 * so many turns an answer can come from an origin.
 */
const lifeTurns = 40
/** Only Linux gives the whole of 127/8 to a machine. */
const addresses = process.platform === "linux" ? 200 : 1

/** How one connection is made and what it is counted as. */
export interface Session {
  readonly kind: string
  readonly seed: number
  readonly chance: Random
}

interface Reached {
  sessions: number
  /** So many of them heard something after their handshake, if they had one. */
  answered: number
}

export interface TlsTarget {
  readonly port: number
  readonly ca: string
  readonly name: string
  readonly alpn: ReadonlyArray<string>
  /** The cheaper TLS 1.2 is refused where a session is bound to its connection. */
  readonly lowest: SecureVersion
}

export class Clients {
  /** The seed of each connection, by its ends, which are used again after it. */
  readonly seedOf = new Map<string, number>()
  readonly reached = new Map<string, Reached>()
  readonly #contexts = new Map<string, SecureContext>()
  readonly #sessions = new Map<string, Buffer>()

  async tcp(port: number, bytes: Buffer, session: Session): Promise<void> {
    await this.#say(await this.#dial(port, session), bytes, session)
  }

  async tls(target: TlsTarget, bytes: Buffer, session: Session): Promise<void> {
    const raw = await this.#dial(target.port, session)
    const version = session.chance.below(4) === 0 ? "TLSv1.3" : target.lowest
    await this.#say(await this.#secure(raw, target, version), bytes, session)
  }

  #dial(port: number, { seed }: Session): Promise<Socket> {
    const localAddress = `127.0.0.${1 + (seed % addresses)}`
    return new Promise((resolve, reject) => {
      const socket = connectTcp({ host: "127.0.0.1", port, localAddress, noDelay: true }, () => {
        this.seedOf.set(`${localAddress} ${socket.localPort} ${port}`, seed)
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

  #say(socket: Socket, bytes: Buffer, { chance, kind }: Session): Promise<void> {
    const reached = this.reached.get(kind) ?? { sessions: 0, answered: 0 }
    this.reached.set(kind, reached)
    reached.sessions += 1
    return new Promise((resolve) => {
      const afterTurns = (left: number): void => {
        if (left === 0) return void socket.destroy()
        if (!socket.destroyed) setImmediate(afterTurns, left - 1)
      }
      const timer = setTimeout(afterTurns, lifeMillis, lifeTurns)
      socket.once("close", () => {
        clearTimeout(timer)
        resolve()
      })
      socket.once("data", () => {
        reached.answered += 1
      })
      socket.resume()
      const cut = chance.below(bytes.length + 1)
      const endsInOrder = chance.below(3) === 0
      socket.write(bytes.subarray(0, cut))
      setImmediate(() => {
        if (socket.destroyed) return
        socket.write(bytes.subarray(cut))
        if (endsInOrder) socket.end()
      })
    })
  }
}
