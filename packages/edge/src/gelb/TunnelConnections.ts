/**
 * HTTP/1.1 connections to the agent for one visitor that speaks HTTP/2: kept alive and used again, so that the origin
 * sees few connections; never shared between visitors.
 */
import { Agent } from "node:http"
import { type Duplex, duplexPair } from "node:stream"

/** Opens a relay to an agent that carries `near`; calls back when it stands. */
export type Connect = (near: Duplex, opened: (error: Error | null) => void) => void

const chain = (stream: Duplex) => () => stream

/** The client of node:http expects a socket; these calls mean nothing on a stream. */
const asSocket = (stream: Duplex): Duplex => {
  const self = chain(stream)
  return Object.assign(stream, { setKeepAlive: self, setNoDelay: self, setTimeout: self, ref: self, unref: self })
}

export class TunnelConnections extends Agent {
  private readonly connect: Connect

  constructor(connect: Connect) {
    super({ keepAlive: true, maxFreeSockets: 8, scheduling: "lifo" })
    this.connect = connect
  }

  override createConnection(_options: object, opened?: (error: Error | null, stream: Duplex) => void): undefined {
    const [near, far] = duplexPair()
    // A pair does not tell its other half for good, which would then wait for an hour.
    near.once("close", () => far.destroy())
    this.connect(far, (error) => opened?.(error, asSocket(near)))
    return undefined
  }
}
