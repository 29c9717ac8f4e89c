/**
 * A path of datagrams between those who send to a port of this machine and another port: it loses, delays, swallows what is too long,
 * goes dark, and gives its clients another address, as networks do.
 */
import { createSocket, type Socket } from "node:dgram"
import { once } from "node:events"

export interface UdpWeather {
  /** Of a thousand datagrams. */
  readonly lost?: number
  readonly delayMillis?: number
  /** Longer payloads do not get through. */
  readonly longest?: number
  /** Nothing gets through. */
  readonly isDark?: boolean
}

export class UdpLink implements AsyncDisposable {
  readonly #near: Socket
  #target: number
  readonly #far = new Map<string, Socket>()
  #count = 0
  weather: UdpWeather = {}
  /** Datagrams from clients, also those that did not get through. */
  sent = 0
  /** The sources that the target has seen. */
  readonly sources = new Set<number>()

  private constructor(near: Socket, target: number) {
    this.#near = near
    this.#target = target
    near.on("error", () => {})
    near.on("message", (datagram, from) => {
      this.sent++
      this.#pass(datagram, () => this.#toTarget(datagram, from))
    })
  }

  static async open(target: number, port = 0): Promise<UdpLink> {
    const near = createSocket("udp4")
    near.bind(port, "127.0.0.1")
    await once(near, "listening")
    return new UdpLink(near, target)
  }

  get port(): number {
    return this.#near.address().port
  }

  /** What comes from now on goes to this port. */
  leadsTo(port: number): void {
    this.#target = port
  }

  /** The target sees every client at another address from now on. */
  rebind(): void {
    for (const socket of this.#far.values()) socket.close()
    this.#far.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.rebind()
    await new Promise<void>((resolve) => this.#near.close(() => resolve()))
  }

  /** Loses evenly, so that a run is like another one. */
  #pass(datagram: Buffer, send: () => void) {
    const { delayMillis = 0, isDark = false, longest = Infinity, lost = 0 } = this.weather
    this.#count += lost
    const isLost = this.#count >= 1_000
    if (isLost) this.#count -= 1_000
    if (isDark || isLost || datagram.length > longest) return
    if (delayMillis === 0) send()
    else setTimeout(send, delayMillis)
  }

  #toTarget(datagram: Buffer, from: { readonly address: string; readonly port: number }) {
    const key = `${from.address} ${from.port}`
    let far = this.#far.get(key)
    if (far === undefined) {
      far = createSocket("udp4")
      far.on("error", () => {})
      far.on("message", (back) => this.#pass(back, () => this.#send(this.#near, back, from.port)))
      far.once("listening", () => this.sources.add(far?.address().port ?? 0))
      this.#far.set(key, far)
    }
    this.#send(far, datagram, this.#target)
  }

  /** A socket may have been closed while the datagram was on its way. */
  #send(socket: Socket, datagram: Buffer, port: number) {
    try {
      socket.send(datagram, port, "127.0.0.1")
    } catch {
      // Lost, as by any network.
    }
  }
}
