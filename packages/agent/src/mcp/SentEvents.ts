/** What a session has sent as events, for a client that comes back after its connection was cut (`Last-Event-ID`). */

/** An event of one stream; without bytes it only tells the client an id from which it can go on. */
export interface SentEvent {
  readonly id: string
  readonly stream: number
  readonly line: Uint8Array
}

/** Bytes that are kept beside the newest event. */
const keptBytes = 4 * 1024 * 1024
/** Events that are kept, as small ones take memory, too. */
const maxEvents = 1000

const idForm = /^(\d{1,9})-(\d{1,12})$/u

export class SentEvents {
  readonly #events: Array<SentEvent> = []
  #bytes = 0
  #next = 1

  add(stream: number, line: Uint8Array): SentEvent {
    const event = { id: `${stream}-${this.#next++}`, stream, line }
    this.#events.push(event)
    this.#bytes += line.length
    while (this.#events.length > maxEvents || (this.#bytes > keptBytes && this.#events.length > 1))
      this.#bytes -= this.#events.shift()?.line.length ?? 0
    return event
  }

  /** The stream of the event with this id, and what it has sent since; undefined for an id that is none of this session's. */
  after(id: string): { readonly stream: number; readonly events: ReadonlyArray<SentEvent> } | undefined {
    const [, stream, at] = idForm.exec(id) ?? []
    if (stream === undefined || Number(at) >= this.#next) return undefined
    const isLater = (event: SentEvent) => Number(idForm.exec(event.id)?.[2]) > Number(at)
    return {
      stream: Number(stream),
      events: this.#events.filter((event) => event.stream === Number(stream) && isLater(event))
    }
  }
}
