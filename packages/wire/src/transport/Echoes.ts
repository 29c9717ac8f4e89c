/**
 * Echoes of one session: what was asked and not answered yet, and what the peer asked. A registration has one question at a
 * time; a newer one takes the place of the older, so that neither half grows by being asked.
 */
import type { OriginEcho } from "../frames/MuxEcho.ts"
import type { ControlFrame, SendableFrame } from "../frames/MuxFrame.ts"
import { guarded, type OnFault } from "./FaultBoundary.ts"

/**
 * Called with the registration that is asked for. What `answer` gets is the answer to the latest question; without one, when it
 * gets nothing, the peer waits in vain and may ask again.
 */
export type OnEcho = (registration: number, answer: (echo: OriginEcho | undefined) => void) => void

interface Asked {
  readonly serial: number
  readonly answer: (echo: OriginEcho | undefined) => void
}

export class Echoes {
  readonly #send: (frame: SendableFrame) => void
  readonly #onEcho: OnEcho | undefined
  readonly #isOwn: (registration: number) => boolean
  readonly #asked = new Map<number, Asked>()
  /** The latest question of the peer for each registration, while it is open. */
  readonly #answering = new Map<number, number>()
  #serial = 0
  #over = false

  constructor(options: {
    readonly send: (frame: SendableFrame) => void
    readonly onEcho: OnEcho | undefined
    readonly onFault: OnFault
    /** Whether this side has asked for such a registration; the peer may ask about no other. */
    readonly isOwn: (registration: number) => boolean
  }) {
    this.#send = options.send
    this.#onEcho = options.onEcho && guarded(options.onFault, options.onEcho)
    this.#isOwn = options.isOwn
  }

  /** `undefined` when it was asked again, or the session ended. */
  ask(registration: number): Promise<OriginEcho | undefined> {
    if (this.#over) return Promise.resolve(undefined)
    this.#asked.get(registration)?.answer(undefined)
    this.#serial = (this.#serial + 1) % 0x1_0000_0000
    const serial = this.#serial
    return new Promise((answer) => {
      this.#asked.set(registration, { serial, answer })
      this.#send({ _tag: "Echo", id: registration, serial })
    })
  }

  receive(frame: Extract<ControlFrame, { readonly _tag: "Echo" | "Echoed" }>): void {
    const { id, serial } = frame
    if (frame._tag === "Echo") return this.#answer(id, serial)
    const asked = this.#asked.get(id)
    // An answer that comes too late answers nothing.
    if (asked?.serial !== serial) return
    this.#asked.delete(id)
    asked.answer(frame.echo)
  }

  abandon(): void {
    this.#over = true
    for (const { answer } of this.#asked.values()) answer(undefined)
    this.#asked.clear()
    this.#answering.clear()
  }

  #answer(id: number, serial: number): void {
    const onEcho = this.#onEcho
    if (onEcho === undefined || !this.#isOwn(id)) return
    const isOpen = this.#answering.has(id)
    this.#answering.set(id, serial)
    // The answer to the older question is the answer to this one.
    if (isOpen) return
    onEcho(id, (echo) => {
      const latest = this.#answering.get(id)
      if (latest === undefined) return
      this.#answering.delete(id)
      if (echo !== undefined) this.#send({ _tag: "Echoed", id, serial: latest, echo })
    })
  }
}
