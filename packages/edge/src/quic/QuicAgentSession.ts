/**
 * A QUIC connection of a reference agent (data-plane 2): one stream per visitor, without a header. It is the session of one
 * registration; others may share the connection.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import type { CloseCode, ResetCode } from "@catenet/wire/frames/MuxReason"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import {
  type CarrierSession,
  type CarrierStream,
  type SessionClosed,
  type SessionCounters,
  StreamRefused
} from "@catenet/wire/transport/Carrier"
import { Result } from "effect"

/** QUIC itself detects a silent peer and closes the connection. */
const receivedAt = () => Scheduler.monotonicMillis()

export class QuicAgentSession implements CarrierSession {
  readonly #connection: QuicConnection
  readonly #streams = new Set<CarrierStream>()
  readonly counters: SessionCounters = {
    bytesSent: 0,
    bytesReceived: 0,
    streamsOpened: 0,
    streamsAccepted: 0,
    streamsOpen: 0,
    resetsSent: 0,
    resetsReceived: 0,
    get lastReceivedAt() {
      return receivedAt()
    },
    rttMillis: undefined
  }
  readonly closed: Promise<SessionClosed>
  /** This protocol has no such message. */
  readonly draining = new Promise<string>(() => undefined)

  constructor(connection: QuicConnection) {
    this.#connection = connection
    this.closed = connection.closed.then(({ by, reason }) => ({
      code: by === "process" ? "lost" : "normal",
      sentence: reason,
      by: by === "process" ? "carrier" : by
    }))
  }

  open(_header: OpenHeader): Result.Result<CarrierStream, StreamRefused> {
    if (this.#connection.isClosed) return Result.fail(new StreamRefused({ reason: "closed" }))
    return Result.map(this.#connection.open(), (stream) => {
      this.#streams.add(stream)
      this.counters.streamsOpened += 1
      this.counters.streamsOpen += 1
      stream.once("close", () => {
        this.#streams.delete(stream)
        this.counters.streamsOpen -= 1
      })
      return stream
    })
  }

  ping(): Promise<number | undefined> {
    return Promise.resolve(this.#connection.isClosed ? undefined : 0)
  }

  echo(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  goAway(): void {}

  /** Resets the streams of this registration. */
  cut(code: ResetCode, sentence: string): void {
    for (const stream of this.#streams) stream.reset(code, sentence)
  }

  close(_code: CloseCode, sentence = ""): void {
    this.#connection.close(0, sentence)
  }
}
