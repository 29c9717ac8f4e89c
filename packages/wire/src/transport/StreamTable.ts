/**
 * The streams of one multiplexed session: who may open how many, which ids exist, and what a frame for one of them
 * means. Every method that takes a frame of the peer answers with the rule it broke, if it broke one.
 * @internal
 */
import { Result } from "effect"
import type { Buffer } from "node:buffer"
import type { ControlFrame } from "../frames/MuxFrame.ts"
import { encodeMuxFrame } from "../frames/MuxFrame.ts"
import type { OpenHeader } from "../frames/MuxOpen.ts"
import type { CloseCode, ResetCode } from "../frames/MuxReason.ts"
import { type SessionCounters, StreamRefused } from "./Carrier.ts"
import { guarded, type OnFault } from "./FaultBoundary.ts"
import type { MuxLimits } from "./MuxLimits.ts"
import type { MuxSender } from "./MuxSender.ts"
import { MuxStream, type StreamHost } from "./MuxStream.ts"
import { ReceiveWindow } from "./ReceiveWindow.ts"

/** A rule the peer broke, which ends the session. */
export interface Violation {
  readonly code: Extract<CloseCode, "protocol" | "flow-control">
  readonly sentence: string
}

const protocol = (sentence: string): Violation => ({ code: "protocol", sentence })

export interface StreamTableOptions {
  readonly sender: MuxSender
  readonly limits: MuxLimits
  readonly counters: SessionCounters
  /** Ids of our own streams start here and go up by two. */
  readonly firstId: 1 | 2
  readonly onStream: ((stream: MuxStream) => void) | undefined
  /** Receives what a callback of one stream threw; the stream is then reset. */
  readonly onFault: OnFault
  /** Why the peer may open no stream just now. */
  readonly refusing: () => ResetCode | undefined
  /** Called when the last stream is over. */
  readonly idle: () => void
}

export class StreamTable {
  readonly #options: StreamTableOptions
  readonly #streams = new Map<number, MuxStream>()
  readonly #host: StreamHost
  #nextId: number
  #lastPeerId = 0
  #inbound = 0
  #outbound = 0
  #held = 0
  /** What the peer's hello allows. */
  peer: { readonly maxStreams: number; readonly initialWindow: number } = { maxStreams: 0, initialWindow: 0 }

  constructor(options: StreamTableOptions) {
    this.#options = options
    this.#nextId = options.firstId
    this.#host = {
      sender: options.sender,
      held: (delta) => {
        this.#held += delta
      },
      overBudget: () => this.#held > options.limits.receiveBudget,
      release: (id, sentReset) => this.#release(id, sentReset),
      onFault: options.onFault
    }
  }

  get size(): number {
    return this.#streams.size
  }

  open(header: OpenHeader): Result.Result<MuxStream, StreamRefused> {
    if (this.#outbound >= this.peer.maxStreams) return Result.fail(new StreamRefused({ reason: "full" }))
    // Ids are not reused; a session that used them all up has to be replaced by a new one.
    if (this.#nextId > 0xffff_ffff) return Result.fail(new StreamRefused({ reason: "draining" }))
    const id = this.#nextId
    this.#nextId += 2
    this.#outbound++
    this.#options.counters.streamsOpened++
    this.#options.sender.control(encodeMuxFrame({ _tag: "Open", id, header }))
    return Result.succeed(this.#add(id, header))
  }

  accept(id: number, header: OpenHeader): Violation | undefined {
    if (this.#isOurs(id) || id <= this.#lastPeerId) return protocol(`stream ${id} opened out of order`)
    this.#lastPeerId = id
    const { counters, limits, onStream } = this.#options
    const refusing = this.#options.refusing()
    if (onStream === undefined) this.#refuse(id, "refused", "this side takes no streams")
    else if (refusing !== undefined) this.#refuse(id, refusing, "")
    else if (this.#inbound >= limits.maxStreams) this.#refuse(id, "full", `${limits.maxStreams} streams are open`)
    else {
      this.#inbound++
      counters.streamsAccepted++
      const stream = this.#add(id, header)
      guarded((error) => stream.fault(error), onStream)(stream)
    }
    return undefined
  }

  data(id: number, piece: Buffer): Violation | undefined {
    const stream = this.#streams.get(id)
    if (stream === undefined) return this.#unlessKnown(id, "data")
    if (!stream.receive(piece)) return { code: "flow-control", sentence: `stream ${id} got more than was allowed` }
    const { receiveLimit } = this.#options.limits
    if (this.#held > receiveLimit && stream.held > receiveLimit / (2 * this.#streams.size)) {
      stream.reset("overloaded", "too many unread bytes are held for slow readers")
    }
    return undefined
  }

  frame(frame: Extract<ControlFrame, { readonly _tag: "Fin" | "Reset" | "Window" }>): Violation | undefined {
    const { id } = frame
    const stream = this.#streams.get(id)
    if (stream === undefined) return this.#unlessKnown(id, frame._tag)
    switch (frame._tag) {
      case "Fin":
        return stream.receiveEnd() ? undefined : protocol(`stream ${id} ended twice`)
      case "Reset":
        this.#options.counters.resetsReceived++
        stream.receiveReset(frame.reason)
        return undefined
      case "Window":
        return stream.addCredit(frame.credit)
          ? undefined
          : { code: "flow-control", sentence: `credit of stream ${id} overflows` }
    }
  }

  /** Resets our streams that were opened for this registration. */
  cut(registration: number, code: ResetCode, sentence: string): void {
    for (const stream of Array.from(this.#streams.values()))
      if (this.#isOurs(stream.id) && stream.header.registration === registration) stream.reset(code, sentence)
  }

  /** The session is over: what is not complete can never be. */
  abandon(sentence: string): void {
    for (const stream of this.#streams.values()) stream.receiveReset({ code: "lost", sentence })
  }

  #add(id: number, header: OpenHeader): MuxStream {
    const { counters, limits } = this.#options
    const window = new ReceiveWindow(limits.initialWindow, limits.window)
    const stream = new MuxStream(this.#host, id, header, this.peer.initialWindow, window)
    this.#streams.set(id, stream)
    counters.streamsOpen = this.#streams.size
    return stream
  }

  #refuse(id: number, code: ResetCode, sentence: string): void {
    this.#options.counters.resetsSent++
    this.#options.sender.control(encodeMuxFrame({ _tag: "Reset", id, reason: { code, sentence } }))
  }

  #release(id: number, sentReset: boolean): void {
    if (!this.#streams.delete(id)) return
    if (this.#isOurs(id)) this.#outbound--
    else this.#inbound--
    const { counters, idle } = this.#options
    if (sentReset) counters.resetsSent++
    counters.streamsOpen = this.#streams.size
    if (this.#streams.size === 0) idle()
  }

  #isOurs(id: number): boolean {
    return id % 2 === this.#options.firstId % 2
  }

  /** Frames for a stream that is over cross its end on the way; frames for one that never was are an error. */
  #unlessKnown(id: number, what: string): Violation | undefined {
    const known = this.#isOurs(id) ? id < this.#nextId : id <= this.#lastPeerId
    return known ? undefined : protocol(`${what} for stream ${id}, which was never opened`)
  }
}
