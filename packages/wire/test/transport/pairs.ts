/** Two ends of one byte connection, over which everything of this folder is tried. */
import type { Dice } from "@catenet/testing/wire/dice"
import { once } from "node:events"
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Socket } from "node:net"
import { Duplex } from "node:stream"
import { connect, createServer, type TLSSocket } from "node:tls"
import { certificate, privateKey } from "./certificate.ts"

type Done = (error?: Error | null) => void

/** An end that passes on what is written in pieces of its own choice, at times of its own choice. */
class ChoppedEnd extends Duplex {
  other: ChoppedEnd | undefined
  readonly #dice: Dice
  readonly #onBytes: (bytes: Buffer) => void
  #resume: (() => void) | undefined

  constructor(dice: Dice, onBytes: (bytes: Buffer) => void) {
    super({ allowHalfOpen: true, highWaterMark: 4096 })
    this.#dice = dice
    this.#onBytes = onBytes
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    this.#onBytes(chunk)
    let at = 0
    const step = (): void => {
      while (at < chunk.length) {
        const length = this.#dice.between(1, this.#dice.pick([1, 9, 60, 5000]))
        const more = this.other!.push(Buffer.from(chunk.subarray(at, at + length)))
        at += length
        if (!more) {
          this.other!.#resume = step
          return
        }
        if (this.#dice.between(0, 9) === 0) {
          setImmediate(step)
          return
        }
      }
      done()
    }
    step()
  }

  override _read(): void {
    const resume = this.#resume
    this.#resume = undefined
    if (resume !== undefined) setImmediate(resume)
  }

  override _final(done: Done): void {
    this.other!.push(null)
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    if (!this.readableEnded || !this.writableFinished) this.other!.destroy()
    done(error)
  }
}

/** In memory, cut at random; `onBytes` sees what each end writes, before the other end does. */
export const choppedPair = (
  dice: Dice,
  onBytes: (from: "a" | "b", bytes: Buffer) => void = () => {}
): readonly [Duplex, Duplex] => {
  const a = new ChoppedEnd(dice, (bytes) => onBytes("a", bytes))
  const b = new ChoppedEnd(dice, (bytes) => onBytes("b", bytes))
  a.other = b
  b.other = a
  return [a, b]
}

/** Loopback TCP: the dialling end and the accepting end. */
export const tcpPair = async (): Promise<readonly [Socket, Socket]> => {
  const server = createTcpServer({ allowHalfOpen: true })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const dialler = connectTcp({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true })
  const [[acceptor]] = await Promise.all([once(server, "connection"), once(dialler, "connect")])
  server.close()
  return [dialler, acceptor]
}

/** Loopback TLS 1.3: the dialling end and the accepting end. */
export const tlsPair = async (alpn: string): Promise<readonly [TLSSocket, TLSSocket]> => {
  const server = createServer({ key: privateKey, cert: certificate, ALPNProtocols: [alpn], allowHalfOpen: true })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const options = {
    port: (server.address() as AddressInfo).port,
    host: "127.0.0.1",
    servername: "localhost",
    ca: certificate,
    ALPNProtocols: [alpn],
    allowHalfOpen: true
  }
  const dialler = connect(options)
  const [[acceptor]] = await Promise.all([once(server, "secureConnection"), once(dialler, "secureConnect")])
  server.close()
  return [dialler, acceptor]
}
