/**
 * Kept-alive HTTP/1.1 connections with one request under way on each, reading no more of an answer than its length: the
 * least that a client can cost, so that on a small machine what is measured is what lies between.
 */
import { connect, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import type { Aim } from "../Load.ts"

const atOnce = 32
const uploadBlock = Buffer.alloc(64 * 1024, 7)
const headEnd = "\r\n\r\n"

const requestOf = (path: string, host: string) => `GET ${path} HTTP/1.1\r\nhost: ${host}${headEnd}`

export class Kept {
  readonly #socket: Socket
  readonly #host: string
  readonly #smallest: string
  #head: Buffer = Buffer.alloc(0)
  #left: number | undefined
  #answered: (() => void) | undefined
  #failed: ((error: Error) => void) | undefined

  private constructor(socket: Socket, host: string) {
    this.#socket = socket
    this.#host = host
    this.#smallest = requestOf("/", host)
    socket.on("data", (chunk: Buffer) => this.#receive(chunk))
    socket.on("error", (error) => this.#failed?.(error))
    socket.on("close", () => this.#failed?.(new Error("the connection was closed")))
  }

  /** From this address of loopback. */
  static open({ ca, port, servername }: Aim, localAddress = "127.0.0.1"): Promise<Kept> {
    return new Promise((resolve, reject) => {
      const plain = { host: "127.0.0.1", port, noDelay: true, localAddress }
      const socket: Socket =
        servername === undefined
          ? connect(plain, () => resolve(new Kept(socket, "127.0.0.1")))
          : connectTls({ ...plain, servername, ca: ca ?? "" }, () => resolve(new Kept(socket, servername)))
      socket.once("error", reject)
      socket.setNoDelay(true)
    })
  }

  /** Opens so many, not all at once. */
  static async openMany(aim: Aim, count: number): Promise<ReadonlyArray<Kept>> {
    const opened: Array<Kept> = []
    let begun = 0
    const worker = async () => {
      while (begun++ < count) opened.push(await Kept.open(aim))
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    return opened
  }

  get(path = "/"): Promise<void> {
    return this.#ask(requestOf(path, this.#host))
  }

  /** Asks for the smallest answer and calls back; on a connection that fails, never. */
  ask(answered: () => void): void {
    this.#answered = answered
    this.#failed = undefined
    this.#socket.write(this.#smallest, "latin1")
  }

  async post(bytes: number): Promise<void> {
    const answered = this.#ask(`POST / HTTP/1.1\r\nhost: ${this.#host}\r\ncontent-length: ${bytes}${headEnd}`)
    for (let left = bytes; left > 0; left -= uploadBlock.length) {
      const piece = left >= uploadBlock.length ? uploadBlock : uploadBlock.subarray(0, left)
      if (!this.#socket.write(piece)) await new Promise((resolve) => this.#socket.once("drain", resolve))
    }
    await answered
  }

  close(): void {
    this.#failed = undefined
    this.#socket.destroy()
  }

  #ask(request: string): Promise<void> {
    return new Promise((resolve, reject) => {
      // Nothing tells of a write to a connection that its peer has closed meanwhile.
      if (this.#socket.destroyed) return reject(new Error("the connection was closed"))
      this.#answered = resolve
      this.#failed = reject
      this.#socket.write(request, "latin1")
    })
  }

  #receive(chunk: Buffer): void {
    if (this.#left === undefined) {
      this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk])
      const end = this.#head.indexOf(headEnd)
      if (end < 0) return
      const text = this.#head.toString("latin1", 0, end)
      if (!text.startsWith("HTTP/1.1 200")) return this.#failed?.(new Error(text))
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0)
      this.#left = end + headEnd.length + length - this.#head.length
      this.#head = Buffer.alloc(0)
    } else this.#left -= chunk.length
    if (this.#left > 0) return
    this.#left = undefined
    this.#answered?.()
  }
}
