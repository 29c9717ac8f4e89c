/**
 * A bounded number of handshakes that are not finished. A handshake that goes on takes a round trip or two, and one that never does
 * stays until it times out. So when there are too many, no newcomer is turned away: the address with the most that are late gives up
 * its oldest, and while none is late, the address with the most. Of addresses with equally many it is the one that came first, as
 * made-up senders have one each.
 * @internal
 */
import { addressBlock } from "@catenet/platform/IpAddress"

/** A handshake that takes longer will hardly be finished. */
const lateMillis = 1_000

interface Handshake {
  readonly since: number
  readonly end: () => void
}

export class UnfinishedHandshakes {
  readonly #most: number
  readonly #now: () => number
  /** The oldest first, by address. */
  readonly #byAddress = new Map<string, Set<Handshake>>()
  #taken = 0

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(most: number, now: () => number) {
    this.#most = most
    this.#now = now
  }

  /** A handshake begins, which `end` ends when it has to make room. Returns what to call when it is over; it may be called again. */
  begin(address: string, end: () => void): () => void {
    const block = addressBlock(address)
    if (this.#taken >= this.#most) this.#makeRoom()
    const own: Handshake = { since: this.#now(), end }
    this.#byAddress.set(block, (this.#byAddress.get(block) ?? new Set()).add(own))
    this.#taken += 1
    return () => this.#remove(block, own)
  }

  #makeRoom() {
    const lateSince = this.#now() - lateMillis
    const lateOf = (held: ReadonlySet<Handshake>) => {
      let late = 0
      for (const { since } of held) {
        if (since > lateSince) break
        late += 1
      }
      return late
    }
    let found: readonly [block: string, late: number, held: ReadonlySet<Handshake>] = ["", 0, new Set()]
    for (const [block, held] of this.#byAddress) {
      const late = lateOf(held)
      if (late > found[1] || (late === found[1] && held.size > found[2].size)) found = [block, late, held]
    }
    const [block, , [oldest]] = found
    if (oldest === undefined) return
    this.#remove(block, oldest)
    oldest.end()
  }

  #remove(block: string, handshake: Handshake) {
    const held = this.#byAddress.get(block)
    if (held?.delete(handshake) !== true) return
    this.#taken -= 1
    if (held.size === 0) this.#byAddress.delete(block)
  }
}
