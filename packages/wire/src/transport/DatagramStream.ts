/**
 * A byte stream of datagrams (`frames/Datagrams`) as a stream that reads and writes one datagram at a time.
 */
import type { Buffer } from "node:buffer"
import { Duplex } from "node:stream"
import { DatagramReader, encodeDatagram } from "../frames/Datagrams.ts"

type Done = (error?: Error | null) => void

export class DatagramStream extends Duplex {
  readonly #carrier: Duplex
  readonly #reader = new DatagramReader()
  #onDrain: Done | undefined

  /** Takes the stream over. What it receives is passed on at once: a datagram that finds no room is the owner's to drop. */
  constructor(carrier: Duplex) {
    super({ readableObjectMode: true })
    this.#carrier = carrier
    // The peer may reset the stream before its owner listens; that must not end the process.
    this.on("error", () => {})
    carrier.on("data", (chunk: Buffer) => {
      for (const datagram of this.#reader.push(chunk)) this.push(datagram)
    })
    carrier.on("end", () => this.push(null))
    carrier.on("error", (error) => this.destroy(error))
    carrier.on("close", () => this.destroy())
    carrier.on("drain", () => this.#drained())
    carrier.resume()
  }

  override _read(): void {}

  override _write(datagram: Buffer, _encoding: string, done: Done): void {
    const bytes = encodeDatagram(datagram)
    if (bytes === undefined || this.#carrier.write(bytes)) done()
    else this.#onDrain = done
  }

  override _final(done: Done): void {
    this.#carrier.end()
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    if (!this.#carrier.writableFinished || !this.#carrier.readableEnded) this.#carrier.destroy()
    this.#drained()
    done(error)
  }

  #drained(): void {
    const done = this.#onDrain
    this.#onDrain = undefined
    done?.()
  }
}
