/**
 * Who waits for whom at a relay node: members of one channel with different holders, of which one may begin and the other answer.
 * It moves no bytes and has no clock: times are arguments, in epoch milliseconds.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import type { Grant } from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { permits } from "@catenet/crypto/Permission"

export interface Waiting {
  readonly grant: Grant
}

export interface Arrival<W> {
  /** The first begins, the other answers. */
  readonly pair: readonly [W, W] | undefined
  /** Their grants do not fit. */
  readonly refused: ReadonlyArray<W>
  /** Ended by the newer joins of the same member. */
  readonly superseded: ReadonlyArray<W>
}

interface Park<W> {
  readonly waiting: W
  readonly until: number
  nextTick: number
}

/** Places of one holder at a channel. */
export const mostParks = 4
export const parkMillis = 30_000
const tickMillis = 10_000

const sameHolder = (a: Waiting, b: Waiting) => Bytes.equal(a.grant.holder, b.grant.holder)

const directed = <W extends Waiting>(older: W, newer: W): readonly [W, W] | undefined => {
  const [a, b] = [older.grant, newer.grant]
  if (a.direction === "both" && b.direction === "both")
    return Bytes.compare(a.holder, b.holder) < 0 ? [older, newer] : [newer, older]
  if (permits(a.direction, "initiate") && permits(b.direction, "accept")) return [older, newer]
  return permits(b.direction, "initiate") && permits(a.direction, "accept") ? [newer, older] : undefined
}

export class NodeRoom<W extends Waiting> {
  readonly #channels = new Map<string, Array<Park<W>>>()

  /** Pairs the newcomer with the oldest that fits, or lets it wait. */
  arrive(newcomer: W, now: number): Arrival<W> {
    const channel = Hex.encode(newcomer.grant.channel)
    const parks = this.#channels.get(channel) ?? []
    let misfit: W | undefined
    for (const { waiting } of parks) {
      if (sameHolder(waiting, newcomer)) continue
      const pair = directed(waiting, newcomer)
      if (pair === undefined) {
        misfit ??= waiting
        continue
      }
      this.leave(waiting)
      return { pair, refused: [], superseded: [] }
    }
    if (misfit !== undefined) {
      this.leave(misfit)
      return { pair: undefined, refused: [misfit, newcomer], superseded: [] }
    }
    parks.push({ waiting: newcomer, until: now + parkMillis, nextTick: now + tickMillis })
    this.#channels.set(channel, parks)
    const own = parks.filter(({ waiting }) => sameHolder(waiting, newcomer))
    const superseded = own.slice(0, Math.max(0, own.length - mostParks)).map(({ waiting }) => waiting)
    for (const waiting of superseded) this.leave(waiting)
    return { pair: undefined, refused: [], superseded }
  }

  /** It waits no longer. */
  leave(waiting: W): void {
    const channel = Hex.encode(waiting.grant.channel)
    const parks = this.#channels.get(channel)
    const at = parks?.findIndex((park) => park.waiting === waiting) ?? -1
    if (parks === undefined || at < 0) return
    parks.splice(at, 1)
    if (parks.length === 0) this.#channels.delete(channel)
  }

  /** Whose time is over, and who has to hear that the node is there. Those whose time is over have left. */
  tick(now: number): { readonly expired: ReadonlyArray<W>; readonly due: ReadonlyArray<W> } {
    const expired: Array<W> = []
    const due: Array<W> = []
    for (const parks of this.#channels.values())
      for (const park of parks) {
        if (park.until <= now) expired.push(park.waiting)
        else if (park.nextTick <= now) {
          due.push(park.waiting)
          park.nextTick += tickMillis
        }
      }
    for (const waiting of expired) this.leave(waiting)
    return { expired, due }
  }

  get size(): number {
    return Array.from(this.#channels.values()).reduce((total, parks) => total + parks.length, 0)
  }
}
