/** When each member of a channel was last here. Bounded: the member seen longest ago is dropped first. Times are arguments. */
import { BoundedMap } from "@catenet/platform/BoundedMap"

const maxSeen = 65_536

export class LastSeenTable {
  readonly #seen = new BoundedMap<string, number>(maxSeen)

  note(channel: string, holder: string, now: number): void {
    this.#seen.set(`${channel} ${holder}`, now)
  }

  at(channel: string, holder: string): number | undefined {
    return this.#seen.get(`${channel} ${holder}`)
  }

  /** The holders of a channel and when each was last here. */
  of(channel: string): ReadonlyMap<string, number> {
    const found = new Map<string, number>()
    for (const [key, at] of this.#seen) if (key.startsWith(channel)) found.set(key.slice(channel.length + 1), at)
    return found
  }
}
