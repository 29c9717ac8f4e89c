/** A member by QUIC, played as one stream: the join on the first, the session on a second, which either side opens. */
import * as Quic from "@catenet/wire/quic/process/QuicProcess"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { Effect, Result } from "effect"
import { once } from "node:events"
import { Duplex } from "node:stream"
import { untilSuccess } from "../Eventually.ts"
import { Peer } from "./Peer.ts"

export const program = QuicProgram.find()

export interface QuicPlace {
  readonly process: Quic.QuicProcess
  readonly port: number
}

/** A QUIC process for the members of a test. */
export const processOfMembers = Effect.suspend(() =>
  program === undefined ? Effect.die("no runtime") : Quic.start(program)
)

/** As the member of the reference dials: no ALPN, and any roots. */
export const connectMember = ({ port, process }: QuicPlace, roots: string) =>
  process.dial({
    to: { address: "127.0.0.1", port },
    serverName: "localhost",
    roots,
    transport: { keepAlive: 5_000, idle: 20_000, streams: 100 }
  })

export const opened = (connection: QuicConnection) => Result.getOrThrow(connection.open())

/** The ports on UDP come up a little later than the others. */
export const untilTaken = (place: QuicPlace, roots: string) =>
  Effect.map(untilSuccess(connectMember(place, roots)), (connection) => connection.close())

class QuicMember extends Duplex {
  readonly connection: QuicConnection
  #stream: Promise<CarrierStream>
  #said = Buffer.alloc(0)

  constructor(connection: QuicConnection) {
    super()
    this.connection = connection
    const join = opened(connection)
    join.on("data", (chunk: Buffer) => {
      this.#said = Buffer.concat([this.#said, chunk])
      this.push(chunk)
    })
    join.once("end", () => this.#goOn(join))
    this.#stream = Promise.resolve(join)
    void connection.closed.then(() => this.push(null))
  }

  override _read() {}

  override async _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void) {
    const stream = await this.#stream
    stream.write(chunk, done)
  }

  override async _final(done: () => void) {
    const stream = await this.#stream
    stream.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void) {
    this.connection.close()
    done(error)
  }

  /** The word of the edge is whole: the session begins, or all is over. */
  #goOn(join: CarrierStream) {
    const line = /OK .*/s.exec(this.#said.toString("latin1"))?.[0]
    if (line === undefined || line.endsWith("ln=close")) {
      if (line !== undefined) this.push("\n")
      return void this.push(null)
    }
    this.#stream = line.includes(" rs=initiate ")
      ? Promise.resolve(opened(this.connection))
      : new Promise((resolve) => this.connection.take(resolve))
    join.end()
    this.push("\n")
    void this.#stream.then((stream) => {
      stream.on("data", (chunk: Buffer) => void this.push(chunk))
      stream.once("end", () => this.push(null)).resume()
    })
  }
}

export const dialMember = async (place: QuicPlace, roots: string) => {
  const member = new QuicMember(await Effect.runPromise(connectMember(place, roots)))
  member.on("error", () => undefined)
  return new Peer(member)
}

/** When a stream has ended, what it said. */
export const allOf = async (stream: CarrierStream) => {
  const chunks: Array<Buffer> = []
  stream.on("data", (chunk: Buffer) => void chunks.push(chunk))
  await once(stream, "end")
  return Buffer.concat(chunks)
}
