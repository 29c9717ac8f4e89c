/**
 * HTTP/1.1 connections to an origin on behalf of one HTTP/2 client: kept open between requests and never shared between clients.
 * A connection that the origin ends while it is idle is closed, and so is one on which something arrives that no request asked for.
 */
import { Agent, type ClientRequest } from "node:http"
import type { Duplex } from "node:stream"

function close(this: Duplex): void {
  this.destroy()
}

export class KeepAliveAgent extends Agent {
  constructor() {
    super({ keepAlive: true, maxFreeSockets: 8, scheduling: "lifo" })
  }

  /** Node watches idle sockets by their handle; a stream without one tells of its end only to who reads it. */
  override keepSocketAlive(stream: Duplex): boolean {
    const kept: unknown = super.keepSocketAlive(stream)
    if (kept === false || stream.readableEnded || stream.readableLength > 0) return false
    stream.on("data", close).on("end", close).resume()
    return true
  }

  override reuseSocket(stream: Duplex, request: ClientRequest): void {
    stream.off("data", close).off("end", close)
    super.reuseSocket(stream, request)
  }
}
