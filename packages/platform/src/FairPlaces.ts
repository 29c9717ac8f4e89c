/**
 * A bounded number of places that addresses share, or others whom a text names. When all are taken, the address that would hold the most gives way: its newest
 * connection that is idle, or else its newest. A newcomer of that address counts, too, so that no address can keep another one out.
 */

export interface Holder {
  /** Nothing is asked on it now. Such a holder gives way first. */
  readonly isIdle: () => boolean
  /** Its place went to another address; it ends. */
  readonly evict: () => void
}

const busy: Pick<Holder, "isIdle"> = { isIdle: () => false }

export class FairPlaces {
  readonly #most: number
  /** The holders of each address, oldest first. */
  readonly #byAddress = new Map<string, Array<Holder>>()
  /** Addresses by how many places they hold, so that the one with the most is found at once. */
  readonly #bySize = new Map<number, Set<string>>()
  #largest = 0
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  get taken(): number {
    return this.#taken
  }

  /** How many places the address holds. */
  heldBy(address: string): number {
    return this.#byAddress.get(address)?.length ?? 0
  }

  /** Whether a newcomer from there could take a place now, before it is worth a handshake. */
  hasRoom(address: string): boolean {
    return this.#taken < this.#most || this.heldBy(address) + 1 < this.#largest
  }

  /** Takes a place. Returns how to leave it, which may be called again; nothing when the newcomer is the one that gives way. */
  take(address: string, holder: Holder): (() => void) | undefined {
    if (this.#taken >= this.#most && !this.makeRoom(address, holder)) return undefined
    const holders = this.#byAddress.get(address) ?? []
    this.#byAddress.set(address, holders)
    holders.push(holder)
    this.#resized(address, holders.length - 1, holders.length)
    return () => this.#remove(address, holder)
  }

  /** Has the address that holds the most give up a place for a newcomer; false where that is the newcomer's own. */
  makeRoom(address: string, newcomer: Pick<Holder, "isIdle"> = busy): boolean {
    const isLargest = this.heldBy(address) + 1 >= this.#largest
    const [largest] = this.#bySize.get(this.#largest) ?? []
    const from = isLargest ? address : largest
    if (from === undefined) return false
    const holders = this.#byAddress.get(from) ?? []
    const idle = isLargest && newcomer.isIdle() ? undefined : holders.findLast((holder) => holder.isIdle())
    const evicted = idle ?? (isLargest ? undefined : holders.at(-1))
    if (evicted === undefined) return false
    this.#remove(from, evicted)
    evicted.evict()
    return true
  }

  #remove(address: string, holder: Holder) {
    const holders = this.#byAddress.get(address)
    const at = holders?.lastIndexOf(holder) ?? -1
    if (holders === undefined || at < 0) return
    holders.splice(at, 1)
    if (holders.length === 0) this.#byAddress.delete(address)
    this.#resized(address, holders.length + 1, holders.length)
  }

  #resized(address: string, before: number, after: number) {
    this.#taken += after - before
    const left = this.#bySize.get(before)
    left?.delete(address)
    if (left?.size === 0) this.#bySize.delete(before)
    if (after > 0) this.#bySize.set(after, (this.#bySize.get(after) ?? new Set()).add(address))
    if (after > this.#largest) this.#largest = after
    else if (before === this.#largest && !this.#bySize.has(before)) this.#largest = after
  }
}
