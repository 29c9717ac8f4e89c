/**
 * One response to an MCP client: a single answer as JSON, or messages as events (`text/event-stream`) from the first message on that is
 * none, or once the answer takes long. Where its events have ids, its connection may be cut and another one take its place.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import type { ServerResponse } from "node:http"
import type { SentEvent, SentEvents } from "./SentEvents.ts"

/** Where the messages of a request go. */
export interface Outlet {
  /** A message that belongs to a request. */
  readonly send: (line: Uint8Array) => void
  /** An answer to one of its requests. */
  readonly answer: (line: Uint8Array) => void
  /** One of its requests gets no answer. */
  readonly abandon: () => void
}

export interface Resumable {
  /** The stream's number in its session. */
  readonly stream: number
  readonly sent: SentEvents
  /** The client understands an event without data, which clients before 2025-11-25 take for a broken message. */
  readonly isPrimed: boolean
}

interface Options {
  /** Answers that are waited for, after which the stream ends; none for a stream that stays open. */
  readonly answers?: number
  /** Set where the only answer may be JSON instead of an event. */
  readonly mayBeJson?: boolean
  readonly headers: Readonly<Record<string, string>>
  /** Set where events have ids. */
  readonly resumable?: Resumable | undefined
  /** Called when nothing more is sent, or the connection of a stream that cannot be resumed is closed before. */
  readonly onOver: (isCut: boolean) => void
}

/** An answer that takes longer comes as an event, so that nothing on its way takes the connection for dead. */
const jsonMillis = 10_000
/** Bytes that a client leaves unread before its connection is closed. */
const maxUnread = 32 * 1024 * 1024

const eventHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no"
}

const empty = new Uint8Array()

export class MessageStream implements Outlet {
  readonly #options: Options
  #left: number
  #response: ServerResponse | undefined
  #timer: NodeJS.Timeout | undefined
  /** What has been sent is events. */
  #isEvents = false
  #isOver = false

  constructor(response: ServerResponse, options: Options) {
    this.#options = options
    this.#left = options.answers ?? Number.POSITIVE_INFINITY
    this.#connect(response)
    if (options.mayBeJson !== true) this.begin()
    else this.#timer = Scheduler.setTimeout(() => this.begin(), jsonMillis)
  }

  get isConnected(): boolean {
    return this.#response !== undefined
  }

  /** From now on messages are events. */
  begin(): void {
    Scheduler.clearTimeout(this.#timer)
    if (this.#isEvents || this.#isOver) return
    this.#isEvents = true
    this.#response?.writeHead(200, { ...eventHeaders, ...this.#options.headers })
    // The client learns an id from which it can go on before the first message.
    if (this.#options.resumable?.isPrimed === true) this.send(empty)
    else this.#response?.flushHeaders()
  }

  send(line: Uint8Array): void {
    if (this.#isOver) return
    this.begin()
    const { resumable } = this.#options
    this.#write(resumable?.sent.add(resumable.stream, line) ?? { id: "", line })
  }

  answer(line: Uint8Array): void {
    if (this.#isOver) return
    if (this.#isEvents) this.send(line)
    else {
      const headers = { "content-type": "application/json", "content-length": line.length, ...this.#options.headers }
      this.#response?.writeHead(200, headers).end(line)
    }
    this.abandon()
  }

  abandon(): void {
    this.#left -= 1
    if (this.#left <= 0) this.end()
  }

  /** Nothing more is sent. */
  end(): void {
    if (this.#isOver) return
    Scheduler.clearTimeout(this.#timer)
    if (!this.#isEvents && this.#response?.headersSent === false) this.begin()
    this.#isOver = true
    this.#response?.end()
    this.#options.onOver(false)
  }

  /** Another connection of the client goes on after the events that it has got. */
  resume(response: ServerResponse, missed: ReadonlyArray<SentEvent>): void {
    this.#response?.end()
    this.#connect(response)
    this.#isEvents = true
    Scheduler.clearTimeout(this.#timer)
    response.writeHead(200, { ...eventHeaders, ...this.#options.headers })
    response.flushHeaders()
    for (const event of missed) this.#write(event)
  }

  /** Keeps the connection from looking dead. */
  beat(): void {
    if (this.#isEvents) this.#response?.write(":\n\n")
  }

  #connect(response: ServerResponse) {
    this.#response = response
    response.once("close", () => {
      if (this.#response !== response) return
      this.#response = undefined
      if (this.#isOver) return
      if (this.#options.resumable !== undefined && this.#isEvents) return
      Scheduler.clearTimeout(this.#timer)
      this.#isOver = true
      this.#options.onOver(true)
    })
  }

  #write({ id, line }: Pick<SentEvent, "id" | "line">) {
    const response = this.#response
    if (response === undefined) return
    response.write(id === "" ? "data: " : `id: ${id}\ndata: `)
    response.write(line)
    response.write("\n\n")
    if (response.writableLength > maxUnread) response.destroy()
  }
}

/** Sends events that an earlier stream has left, and ends. */
export const replay = (
  response: ServerResponse,
  missed: ReadonlyArray<SentEvent>,
  headers: Readonly<Record<string, string>>
): void => {
  response.writeHead(200, { ...eventHeaders, ...headers })
  for (const { id, line } of missed) {
    response.write(`id: ${id}\ndata: `)
    response.write(line)
    response.write("\n\n")
  }
  response.end()
}
