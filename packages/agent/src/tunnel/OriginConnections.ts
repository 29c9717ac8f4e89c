/** HTTP/1.1 connections to the origin for one client that speaks HTTP/2: kept alive and used again, never shared between clients. */
import { KeepAliveAgent } from "@catenet/wire/transport/KeepAliveAgent"
import type { ClientRequestArgs } from "node:http"
import type { Duplex } from "node:stream"

type Opened = (error: Error | null, stream: Duplex) => void

/** Dials the origin, and says what came of it unless it is given up before. */
type Connect = (opened: (error: Error | null, socket: Duplex | undefined) => void) => void

/** A request whose origin is down is answered, not repeated. */
export class OriginAway extends Error {}

export class OriginConnections extends KeepAliveAgent {
  readonly #connect: Connect

  constructor(connect: Connect) {
    super()
    this.#connect = connect
  }

  override createConnection(_options: ClientRequestArgs, opened?: Opened): undefined {
    this.#connect((error, socket) => {
      // Node's types want a stream with the error, Node itself does not look at it.
      if (opened !== undefined) opened(error, socket as Duplex)
      else socket?.destroy()
    })
    return undefined
  }
}
