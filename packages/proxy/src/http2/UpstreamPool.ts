/**
 * HTTP/1.1 connections to the agent for one visitor that speaks HTTP/2: kept alive and used again, so that the origin
 * sees few connections; never shared between visitors.
 */
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { KeepAliveAgent } from "@catenet/wire/transport/KeepAliveAgent"
import type { ClientRequestArgs } from "node:http"
import { type Duplex, duplexPair } from "node:stream"

/** A connection of a visitor, or one to an agent on behalf of a visitor. */
export interface KeptAlive {
  /** Asks no more after what is asked now. */
  readonly announce: () => void
  /** Ends where nothing is asked, a moment after that. */
  readonly endIdle: () => void
}

/**
 * Opens a relay to an agent that carries `near`; calls back when it stands. `kept` hears when that agent leaves. `repeatable`: what
 * is said before the first answer may be said to another agent too.
 */
export type Connect = (
  near: Duplex,
  kept: KeptAlive,
  opened: (error: Error | null) => void,
  repeatable: boolean
) => void

/** What a request may say, among its options, about itself; it is then the first on the connection made for it. */
export interface Repeatable {
  readonly repeatable: boolean
  /** Gets how to give the connection up until it stands; afterwards it goes with its request. */
  readonly opening: (giveUp: () => void) => void
}

/** Bytes that wait between two stages of a request; the default would hold four times as many for a visitor that does not read. */
const highWaterMark = 16 * 1024

/** The visitor left before the connection stood. */
class GivenUp extends Error {}

/** One half of the connection closed before both directions had ended. */
class Broken extends Error {}

const ignore = () => undefined

/** Without an error a half that is destroyed is an ordinary end to the other: a torn message would look complete. */
const breakWith = (half: Duplex, other: Duplex) => {
  half.on("error", ignore)
  half.once("close", () => {
    other.destroy(half.readableEnded && half.writableFinished ? undefined : new Broken("the connection broke off"))
  })
}

const chain = (stream: Duplex) => () => stream

/** The client of node:http expects a socket; these calls mean nothing on a stream. */
const asSocket = (stream: Duplex): Duplex => {
  const self = chain(stream)
  return Object.assign(stream, { setKeepAlive: self, setNoDelay: self, setTimeout: self, ref: self, unref: self })
}

export class UpstreamPool extends KeepAliveAgent {
  readonly #connect: Connect
  readonly #onFault: OnFault
  /** Connections that do not stand yet, of which Node's agent knows nothing. */
  readonly #opening = new Set<Duplex>()
  constructor(connect: Connect, onFault: OnFault) {
    super()
    this.#connect = connect
    this.#onFault = onFault
  }

  override createConnection(
    options: ClientRequestArgs & Partial<Repeatable>,
    opened?: (error: Error | null, stream: Duplex) => void
  ): undefined {
    const [near, far] = duplexPair({ highWaterMark })
    const fault: OnFault = (error) => {
      this.#onFault(error)
      near.destroy()
      far.destroy()
    }
    guard(near, fault)
    guard(far, fault)
    breakWith(near, far)
    breakWith(far, near)
    this.#opening.add(near)
    options.opening?.(() => {
      if (this.#opening.has(near)) near.destroy()
    })
    const stands = (error: Error | null) => {
      this.#opening.delete(near)
      opened?.(near.destroyed ? new GivenUp() : error, asSocket(near))
    }
    const announce = () => {
      near.once("free", () => near.destroy())
      if (Object.values(this.freeSockets).some((free) => free?.some((socket) => socket === near))) near.destroy()
    }
    this.#connect(far, { announce, endIdle: () => undefined }, stands, options.repeatable === true)
    return undefined
  }

  /** Connections that are opening are given up too: after this no owner would close them. */
  override destroy() {
    super.destroy()
    for (const near of this.#opening) near.destroy()
  }
}
