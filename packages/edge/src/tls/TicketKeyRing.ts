/**
 * The keys that encrypt visitors' session tickets, so that a session resumes at any process and edge that has them. The edge's own
 * keys are used if none was given or is current. A key encrypts for one period and decrypts for one more, until its last ticket
 * has expired.
 */
import { Entropy } from "@catenet/platform/Entropy"

/** How long a key encrypts, and how long a ticket is valid. */
export const periodMillis = 12 * 60 * 60 * 1_000
/** A key in the format of TLS: its public name, then the MAC key and the encryption key. */
export const ticketKeyBytes = 48
const nameBytes = 16

export interface TicketKey {
  /** The name in hex, as at the beginning of each ticket. */
  readonly name: string
  readonly bytes: Buffer
  /** Epoch milliseconds of the beginning and the end of its period. */
  readonly from: number
  readonly until: number
}

/** The edge's own keys, and the keys from the control plane. */
export interface TicketKeys {
  readonly own: ReadonlyArray<TicketKey>
  readonly given: ReadonlyArray<TicketKey>
}

export const ticketKey = (bytes: Buffer, from: number): TicketKey => ({
  name: bytes.toString("hex", 0, nameBytes),
  bytes,
  from,
  until: from + periodMillis
})

export class TicketKeyRing {
  readonly #now: () => number
  readonly #listeners = new Set<() => void>()
  #own: ReadonlyArray<TicketKey>
  #given: ReadonlyArray<TicketKey> = []

  /** A ring with one own key. */
  constructor(now: () => number) {
    this.#now = now
    this.#own = [ticketKey(Entropy.randomBytes(ticketKeyBytes), now())]
  }

  /** A ring with the keys of another ring. */
  static of(now: () => number, keys: TicketKeys): TicketKeyRing {
    const ring = new TicketKeyRing(now)
    ring.follow(keys)
    return ring
  }

  /** The key for new tickets. */
  get current(): TicketKey {
    const now = this.#now()
    const inForce = this.#given.findLast(({ from, until }) => from <= now && now < until)
    const own = inForce ?? this.#own.at(-1)
    if (own === undefined) throw new Error("no ticket key")
    return own
  }

  /** The keys that decrypt tickets. */
  get opening(): ReadonlyArray<TicketKey> {
    const now = this.#now()
    return [...this.#given, ...this.#own].filter(({ until }) => now < until + periodMillis)
  }

  /** The key of a ticket. */
  named(name: string): TicketKey | undefined {
    return this.opening.find((key) => key.name === name)
  }

  /** Adds a new own key; the previous one still decrypts. */
  renew(): void {
    this.#own = [...this.#own.slice(-1), ticketKey(Entropy.randomBytes(ticketKeyBytes), this.#now())]
    this.#changed()
  }

  /** Replaces all keys that were given before. */
  give(keys: ReadonlyArray<TicketKey>): void {
    this.#given = keys.toSorted((a, b) => a.from - b.from)
    this.#changed()
  }

  /** All keys. */
  get contents(): TicketKeys {
    return { own: this.#own, given: this.#given }
  }

  /** Copies another ring. */
  follow({ given, own }: TicketKeys): void {
    this.#own = own
    this.#given = given
    this.#changed()
  }

  onChanged(listener: () => void): void {
    this.#listeners.add(listener)
  }

  #changed() {
    for (const listener of this.#listeners) listener()
  }
}
