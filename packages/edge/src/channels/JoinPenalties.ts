/**
 * Addresses with too many joins that can only be guesses (data-plane 12): no such member, or a wrong signature. Counted per
 * address in fixed windows. Times are arguments, in milliseconds.
 */
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { addressBlock } from "@catenet/platform/IpAddress"

const windowMillis = 60_000
export const maxAddresses = 4_096

interface Window {
  readonly from: number
  count: number
}

export class JoinPenalties {
  readonly #most: number
  readonly #windows = new BoundedMap<string, Window>(maxAddresses)

  constructor(most: number) {
    this.#most = most
  }

  /** Number of addresses remembered. */
  get size(): number {
    return this.#windows.size
  }

  note(address: string, now: number): void {
    const block = addressBlock(address)
    const known = this.#current(block, now)
    if (known !== undefined) {
      known.count += 1
      return
    }
    this.#windows.set(block, { from: now, count: 1 })
  }

  /** Whether joins from the address are refused for now. */
  refuses(address: string, now: number): boolean {
    return (this.#current(addressBlock(address), now)?.count ?? 0) >= this.#most
  }

  #current(block: string, now: number): Window | undefined {
    const known = this.#windows.get(block)
    return known === undefined || now - known.from >= windowMillis ? undefined : known
  }
}
