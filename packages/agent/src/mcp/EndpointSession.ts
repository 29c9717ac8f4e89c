/** What one client of the endpoint has: its server, the streams that are open to it, and what it may get again after a cut. */
import type { ServerResponse } from "node:http"
import type { JsonObject } from "../channel/rpc/Tool.ts"
import type { Caller } from "./Callers.ts"
import { MessageStream, type Outlet, replay } from "./MessageStream.ts"
import { SentEvents } from "./SentEvents.ts"
import type { Peer, ServerProcess } from "./ServerProcess.ts"
import type { ToolFilter } from "./ToolFilter.ts"

export type Headers = Readonly<Record<string, string>>

/** Messages without a stream that wait for one. */
const maxEarly = 64

/** The stream of a GET: what belongs to no request. */
const general = 0

export interface Answers {
  readonly answers: number
  /** A batch is answered by events. */
  readonly mayBeJson: boolean
}

export class EndpointSession implements Peer {
  readonly id: string
  readonly caller: Caller
  readonly server: ServerProcess
  readonly tools: ToolFilter | undefined
  readonly #close: () => void
  readonly #sent = new SentEvents()
  readonly #streams = new Map<number, MessageStream>()
  readonly #early: Array<Uint8Array> = []
  #next = general + 1
  #isOver = false
  /** When a message passed last, by the monotonic clock. */
  usedAt: number
  /** The revision of the protocol that client and server have agreed on. */
  version = ""

  constructor(id: string, caller: Caller, server: ServerProcess, now: number, close: () => void) {
    this.id = id
    this.caller = caller
    this.server = server
    this.tools = caller.tools
    this.usedAt = now
    this.#close = close
    server.join(this)
  }

  get isOver(): boolean {
    return this.#isOver || this.server.end !== undefined
  }

  /** Nothing is asked now. */
  get isIdle(): boolean {
    return this.server.waitingOf(this) === 0
  }

  /** The client has a connection open, or waits for an answer. */
  get isUsed(): boolean {
    return !this.isIdle || [...this.#streams.values()].some((stream) => stream.isConnected)
  }

  onMessage(line: Uint8Array): void {
    const stream = this.#streams.get(general)
    const outlet = stream?.isConnected === true ? stream : (this.server.newestOf(this) ?? stream)
    if (outlet !== undefined) outlet.send(line)
    else if (this.#early.length < maxEarly) this.#early.push(line)
  }

  filtered(method: string, answer: JsonObject): JsonObject | undefined {
    return this.tools?.answer(method, answer)
  }

  /** The response to a POST with requests. */
  respond(response: ServerResponse, headers: Headers, { answers, mayBeJson }: Answers): Outlet {
    const stream = this.#next++
    const resumable = { stream, sent: this.#sent, isPrimed: this.version >= "2025-11-25" }
    const onOver = (isCut: boolean) => {
      this.#streams.delete(stream)
      // Without an id the client cannot come for the answer.
      if (isCut) this.server.drop(opened)
    }
    const opened = new MessageStream(response, { answers, mayBeJson, headers, resumable, onOver })
    this.#streams.set(stream, opened)
    return opened
  }

  /** The response to a GET. Another one takes the place of the one before. */
  listen(response: ServerResponse, headers: Headers): void {
    const before = this.#streams.get(general)
    if (before !== undefined) return before.resume(response, [])
    const resumable = { stream: general, sent: this.#sent, isPrimed: this.version >= "2025-11-25" }
    const onOver = () => void this.#streams.delete(general)
    const opened = new MessageStream(response, { headers, resumable, onOver })
    this.#streams.set(general, opened)
    for (const line of this.#early.splice(0)) opened.send(line)
  }

  /** The one response of a client of the old transport, at whose end the session ends. */
  listenOnly(response: ServerResponse): MessageStream {
    const opened = new MessageStream(response, { headers: {}, onOver: () => this.close() })
    this.#streams.set(general, opened)
    return opened
  }

  /** The response to a GET that goes on after an event; false where the id is of no event of this session. */
  resume(response: ServerResponse, headers: Headers, lastEventId: string): boolean {
    const missed = this.#sent.after(lastEventId)
    if (missed === undefined) return false
    const stream = this.#streams.get(missed.stream)
    if (stream === undefined) replay(response, missed.events, headers)
    else stream.resume(response, missed.events)
    return true
  }

  beat(): void {
    for (const stream of this.#streams.values()) stream.beat()
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.server.leave(this)
    for (const stream of this.#streams.values()) stream.end()
    this.#close()
  }
}
