/**
 * The keys under which session tickets of visitors are sealed, so that one who returns resumes at any process and edge that
 * has them. Keys of this edge's own serve where none were given, or none that is in force. A key seals for one period and
 * opens for another one, as long as the youngest ticket under it lives.
 */
import { Entropy } from "@catenet/platform/Entropy"

/** How long a key seals, and how long a ticket can be used. */
export const periodMillis = 12 * 60 * 60 * 1_000
/** As TLS takes a key: its public name, then what authenticates and what encrypts. */
export const ticketKeyBytes = 48
const nameBytes = 16

export interface TicketKey {
  /** In hex, as it stands before each ticket. */
  readonly name: string
  readonly bytes: Buffer
  /** Epoch milliseconds from which it seals, and those at which it no longer does. */
  readonly from: number
  readonly until: number
}

/** Those that an edge made for itself, and those that it was given. */
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

  /** With one key of this edge's own. */
  constructor(now: () => number) {
    this.#now = now
    this.#own = [ticketKey(Entropy.randomBytes(ticketKeyBytes), now())]
  }

  /** With the keys of another ring. */
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

  /** The keys that open what was sealed. */
  get opening(): ReadonlyArray<TicketKey> {
    const now = this.#now()
    return [...this.#given, ...this.#own].filter(({ until }) => now < until + periodMillis)
  }

  /** The key that a ticket names. */
  named(name: string): TicketKey | undefined {
    return this.opening.find((key) => key.name === name)
  }

  /** A new key of this edge's own, beside the one before. */
  renew(): void {
    this.#own = [...this.#own.slice(-1), ticketKey(Entropy.randomBytes(ticketKeyBytes), this.#now())]
    this.#changed()
  }

  /** Takes the place of all keys that were given before, by the beginning of each. */
  give(keys: ReadonlyArray<TicketKey>): void {
    this.#given = keys.toSorted((a, b) => a.from - b.from)
    this.#changed()
  }

  /** All that it has. */
  get contents(): TicketKeys {
    return { own: this.#own, given: this.#given }
  }

  /** Becomes what another ring is. */
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
