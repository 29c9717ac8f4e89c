/** One flood while it runs: its connections, all from one address of the loopback network, eight being made at a time. */
import { connect as connectTcp, type Socket } from "node:net"
import { connect, type TLSSocket } from "node:tls"

/** What a flood is aimed at. */
export interface Target {
  readonly frontDoor: number
  readonly mesh: number
  /** Where members come by WebSocket. */
  readonly webSocket: number
  /** PEM that visitors trust, and PEM that agents trust. */
  readonly visitorRoot: string
  readonly agentRoot: string
  /** A gelb host of the flooder's own tunnel. */
  readonly host: string
  /** What was overheard of a member of a channel, as hex: its join, one by a grant of another operator, and an old signature. */
  readonly member: Readonly<Record<"join" | "forged" | "grant" | "signature", string>>
  /** Whether it takes only what others leave of the processor. */
  readonly yields: boolean
}

const atOnce = 8
/** So many connections stay open, the newest ones. */
const heldConnections = 200
/** Each flood has an address of its own: what one is refused for does not weaken the next. */
let floods = 0
const nextAddress = () => (process.platform === "linux" ? { localAddress: `127.0.9.${1 + (floods++ % 250)}` } : {})

export class Flood {
  readonly target: Target
  /** Connections that were made so far. */
  connections = 0
  #running = true
  readonly #address = nextAddress()
  readonly #open = new Set<Socket>()
  readonly #held: Array<Socket> = []

  constructor(target: Target) {
    this.target = target
  }

  get isRunning(): boolean {
    return this.#running
  }

  /** Does this again and again, eight times at once. */
  repeat(one: () => Promise<void>): void {
    const worker = async () => {
      while (this.#running) await one().catch(() => this.pause(1))
    }
    for (let index = 0; index < atOnce; index++) void worker()
  }

  tcp(port: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket: Socket = connectTcp({ host: "127.0.0.1", port, noDelay: true, ...this.#address }, () =>
        resolve(socket)
      )
      this.#track(socket, reject)
    })
  }

  async tls(to: "visitor" | "agent" | "member", alpn: ReadonlyArray<string>): Promise<TLSSocket> {
    const { agentRoot, frontDoor, host, mesh, visitorRoot } = this.target
    const raw = await this.tcp(to === "agent" ? mesh : frontDoor)
    const whom = to === "visitor" ? { servername: host, ca: visitorRoot } : { servername: "localhost", ca: agentRoot }
    return new Promise((resolve, reject) => {
      const offers = alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] }
      const socket: TLSSocket = connect({ socket: raw, ...whom, ...offers }, () => resolve(socket))
      this.#track(socket, reject)
    })
  }

  /** Keeps the connection open until newer ones take its place. */
  hold(socket: Socket): void {
    socket.resume()
    this.#held.push(socket)
    if (this.#held.length > heldConnections) this.#held.shift()?.destroy()
  }

  /** Says this on every connection that is held, again and again. */
  drip(bytes: Buffer): void {
    const timer = setInterval(() => {
      if (!this.#running) return clearInterval(timer)
      for (const socket of this.#held) if (socket.writable) socket.write(bytes)
    }, 20)
  }

  pause(millis: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, millis))
  }

  /** Resolves when something was heard, or the other side has gone. */
  heard(socket: Socket): Promise<void> {
    return new Promise((resolve) => {
      socket.once("data", () => resolve()).once("close", () => resolve())
      socket.resume()
    })
  }

  stop(): void {
    this.#running = false
    for (const socket of this.#open) socket.destroy()
  }

  #track(socket: Socket, failed: (error: Error) => void): void {
    this.connections += 1
    this.#open.add(socket)
    socket.once("close", () => {
      this.#open.delete(socket)
      failed(new Error("closed"))
    })
    socket.on("error", failed)
  }
}
