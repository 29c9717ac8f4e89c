/**
 * A network path of our own between a dialler and a TCP port: it delays, holds, forgets and breaks what passes, as links and
 * middleboxes do. It sees bytes and not packets, so what a lost packet costs it shows as a pause.
 */
import { connect, createServer, type Server, type Socket } from "node:net"

/** Bytes on their way in one direction; more are left in the sender's socket. */
const inFlightBytes = 512 * 1024
const sweepMillis = 250

/** One connection through the link, from the side that dialled and to the port. */
class Flow {
  readonly dialler: Socket
  readonly target: Socket
  lastMoved = performance.now()
  /** No byte passes any more, and neither end learns of it. */
  forgotten = false

  constructor(dialler: Socket, target: Socket) {
    this.dialler = dialler
    this.target = target
  }

  forget() {
    this.forgotten = true
    // What either end still sends is not acknowledged.
    this.dialler.pause()
    this.target.pause()
  }

  /** One end is gone without a word to the other. */
  vanish(end: "dialler" | "target") {
    this.forget()
    this[end].destroy()
  }

  destroy() {
    this.dialler.destroy()
    this.target.destroy()
  }
}

export class Link {
  readonly #server: Server
  readonly #flows = new Set<Flow>()
  readonly #sweep: NodeJS.Timeout
  readonly #pumps = new Set<() => void>()
  #held = false
  /** Connections that were ever made through it. */
  opened = 0
  /** Each way. */
  delayMillis = 0
  /** A flow that is silent for so long is forgotten, as some middleboxes do. */
  forgetsAfterMillis = Number.POSITIVE_INFINITY

  private constructor(port: number) {
    this.#server = createServer({ allowHalfOpen: true }, (dialler) => this.#carry(dialler, port))
    this.#sweep = setInterval(() => {
      const oldest = performance.now() - this.forgetsAfterMillis
      for (const flow of this.#flows) if (flow.lastMoved < oldest && !flow.forgotten) flow.forget()
    }, sweepMillis)
  }

  static open(port: number): Promise<Link> {
    const link = new Link(port)
    return new Promise((resolve, reject) => {
      link.#server.once("error", reject)
      link.#server.listen(0, "127.0.0.1", () => resolve(link))
    })
  }

  get port(): number {
    const address = this.#server.address()
    return address !== null && typeof address === "object" ? address.port : 0
  }

  get flows(): number {
    return this.#flows.size
  }

  /** Passes no byte, without a sign to either end, until {@link release}. What was sent meanwhile arrives then. */
  hold() {
    this.#held = true
  }

  release() {
    this.#held = false
    for (const pump of this.#pumps) pump()
  }

  /** The present connections lose one end, and the other end does not learn of it. */
  vanish(end: "dialler" | "target") {
    for (const flow of this.#flows) flow.vanish(end)
  }

  close(): Promise<void> {
    clearInterval(this.#sweep)
    for (const flow of this.#flows) flow.destroy()
    return new Promise((resolve) => void this.#server.close(() => resolve()))
  }

  #carry(dialler: Socket, port: number) {
    const target = connect({ host: "127.0.0.1", port, allowHalfOpen: true, noDelay: true })
    dialler.setNoDelay(true)
    const flow = new Flow(dialler, target)
    this.#flows.add(flow)
    this.opened += 1
    const pumps = [this.#direction(flow, dialler, target), this.#direction(flow, target, dialler)]
    for (const pump of pumps) this.#pumps.add(pump)
    for (const socket of [dialler, target]) {
      socket.on("error", () => {})
      socket.once("close", () => {
        // What an end has sent before it closed in order is still under way.
        if (!flow.forgotten && !socket.readableEnded) flow.destroy()
        if (!dialler.destroyed || !target.destroyed) return
        this.#flows.delete(flow)
        for (const pump of pumps) this.#pumps.delete(pump)
      })
    }
  }

  /** Copies one way; returns what moves the waiting bytes on. */
  #direction(flow: Flow, from: Socket, to: Socket): () => void {
    const queue: Array<{ readonly due: number; readonly bytes: Buffer | undefined }> = []
    let waiting = 0
    let timer: NodeJS.Timeout | undefined
    const pump = () => {
      clearTimeout(timer)
      for (let [next] = queue; next !== undefined; [next] = queue) {
        if (this.#held || flow.forgotten || to.destroyed || to.writableNeedDrain) return
        const early = next.due - performance.now()
        if (early > 0) return void (timer = setTimeout(pump, early))
        queue.shift()
        flow.lastMoved = performance.now()
        if (next.bytes === undefined) to.end()
        else {
          waiting -= next.bytes.length
          to.write(next.bytes)
          if (waiting < inFlightBytes) from.resume()
        }
      }
    }
    const send = (bytes: Buffer | undefined) => {
      if (flow.forgotten) return
      queue.push({ due: performance.now() + this.delayMillis, bytes })
      waiting += bytes?.length ?? 0
      if (waiting >= inFlightBytes) from.pause()
      pump()
    }
    from.on("data", send)
    from.on("end", () => send(undefined))
    to.on("drain", pump)
    return pump
  }
}
