/**
 * What a session between agent and edge offers, whichever carrier it runs on. The multiplexer over TLS is one
 * implementation; the rooms above it see only this.
 */
import { Data, type Result } from "effect"
import type { Duplex } from "node:stream"
import type { OriginEcho } from "../frames/MuxEcho.ts"
import type { OpenHeader } from "../frames/MuxOpen.ts"
import type { CloseCode, ResetCode } from "../frames/MuxReason.ts"

/** The error a stream is destroyed with when either side cut it. */
export class StreamReset extends Data.TaggedError("StreamReset")<{
  readonly code: ResetCode
  readonly sentence: string
  readonly by: "local" | "remote"
}> {
  override get message() {
    return this.sentence === "" ? `stream reset: ${this.code}` : `stream reset: ${this.code}: ${this.sentence}`
  }
}

/**
 * Why no stream could be opened: the session is over, is draining, has as many streams as the peer takes, or has not
 * heard the peer's hello yet.
 */
export class StreamRefused extends Data.TaggedError("StreamRefused")<{
  readonly reason: "closed" | "draining" | "full" | "not-ready"
}> {
  override get message() {
    return `no stream: session is ${this.reason}`
  }
}

/**
 * A byte stream with back-pressure and independent half-close. An `error` without a listener does not end
 * the process: resets are ordinary here.
 */
export interface CarrierStream extends Duplex {
  readonly id: number
  readonly header: OpenHeader
  /** Cuts both directions and tells the peer why; without effect once both directions ended. */
  reset(code: ResetCode, sentence?: string): void
  /** Set once the stream was cut by either side. */
  readonly resetBy: StreamReset | undefined
}

/** Why a session is over. `carrier`: the connection broke before the peer closed the session. */
export interface SessionClosed {
  readonly code: CloseCode
  readonly sentence: string
  readonly by: "local" | "remote" | "carrier"
}

/** Counted while bytes flow; payload bytes of streams, without framing. */
export interface SessionCounters {
  bytesSent: number
  bytesReceived: number
  streamsOpened: number
  streamsAccepted: number
  streamsOpen: number
  resetsSent: number
  resetsReceived: number
  /** When the peer was last heard, on the clock of `MonotonicClock`. */
  lastReceivedAt: number
  rttMillis: number | undefined
}

export interface CarrierSession {
  readonly open: (header: OpenHeader) => Result.Result<CarrierStream, StreamRefused>
  /** Round trip through the peer's program in milliseconds; `undefined` when the session closed first. */
  readonly ping: () => Promise<number | undefined>
  /** Asks the peer for the origin behind its registration; `undefined` when it was asked again or the session closed first. */
  readonly echo: (registration: number) => Promise<OriginEcho | undefined>
  /** No new streams from either side; the session closes itself when the running ones are done. */
  readonly goAway: (sentence?: string) => void
  /** Resolves with a sentence when either side announced with `goAway` that it takes no new streams. */
  readonly draining: Promise<string>
  readonly close: (code: CloseCode, sentence?: string) => void
  readonly closed: Promise<SessionClosed>
  readonly counters: Readonly<SessionCounters>
}
