/**
 * Who waits for whom (data-plane 7.3), at an edge and at a relay node. One room for all members of a channel, however they came.
 * It moves no bytes and has no clock: times are arguments, in epoch milliseconds.
 */
import type { Phase } from "@catenet/crypto/admission/Join"
import * as Bytes from "@catenet/crypto/Bytes"
import type { Grant } from "@catenet/crypto/Grant"
import { permits } from "@catenet/crypto/Permission"
import { BoundedMap } from "@catenet/platform/BoundedMap"

/** What the room looks at in a member. */
interface RoomMember {
  /** 64 hex digits, and so is the holder. */
  readonly channel: string
  readonly holder: string
  readonly grant: Grant
  readonly phase: Phase | undefined
  readonly authorization: { readonly operatorKey: Uint8Array }
  /** Epoch milliseconds of the moment at which the operator's key was asked for. */
  readonly authorizedAt: number
  /** Whether it is sent a NUL now and then while it waits, and understands it. */
  readonly keepAlive: boolean
}

export interface Present {
  readonly member: RoomMember
}

export interface Pairing<P> {
  readonly initiator: P
  readonly acceptor: P
  /** Two members of the rendezvous phase only learn of each other; all others are spliced. */
  readonly completion: "close" | "splice"
}

export interface Arrival<P> {
  readonly pairing: Pairing<P> | undefined
  /** Admitted, but their grants do not fit: they hear `pairing`, once. */
  readonly refused: ReadonlyArray<P>
  /** Ended by the newer joins of the same member. */
  readonly superseded: ReadonlyArray<P>
}

export interface RoomOptions<M extends RoomMember> {
  /** Whether the member's grant still holds under the operator key. */
  readonly holds: (member: M, operatorKey: Uint8Array, now: number) => boolean
  readonly parkMillis: (member: M) => number
}

interface Park<P> {
  readonly parked: P
  readonly until: number
  nextTick: number
}

const maxParks = 4
const tickMillis = 10_000

/**
 * A member that has heard that its grant does not fit another's is known to have heard it while it waits, and for so long after it
 * was last here. One that begins anew later hears it again.
 */
export const heardMillis = 120_000
/** How many members are known. */
const maxHeard = 65_536

const compatible = (a: RoomMember, b: RoomMember) =>
  a.phase === undefined || b.phase === undefined || a.phase === b.phase

const sameHolder = (a: Present, b: Present) => a.member.holder === b.member.holder

const keyOf = ({ member: { channel, holder } }: Present) => `${channel} ${holder}`

/** Who initiates: the one whose grants allow it; between two that may both, the smaller key. */
const directed = <P extends Present>(older: P, newer: P): readonly [initiator: P, acceptor: P] | undefined => {
  const [a, b] = [older.member.grant, newer.member.grant]
  const mayBegin = (one: typeof a, other: typeof a) =>
    permits(one.direction, "initiate") && permits(other.direction, "accept")
  if (a.direction === "both" && b.direction === "both")
    return Bytes.compare(a.holder, b.holder) < 0 ? [older, newer] : [newer, older]
  if (mayBegin(a, b)) return [older, newer]
  return mayBegin(b, a) ? [newer, older] : undefined
}

export class PairingRoom<P extends Present> {
  readonly #options: RoomOptions<P["member"]>
  readonly #channels = new Map<string, Array<Park<P>>>()
  /** Members of one direction that were refused for another of the same, until when they may come again to wait beside such. */
  readonly #heard = new BoundedMap<string, number>(maxHeard)
  #size = 0

  constructor(options: RoomOptions<P["member"]>) {
    this.#options = options
  }

  get size(): number {
    return this.#size
  }

  /**
   * Pairs the newcomer with the oldest that fits, or lets it wait. Two that may only accept, or only begin, hear once that they do
   * not fit: it is a mistake of a pair. Where they come again they wait beside each other, for a third: the holders of a role do.
   */
  arrive(newcomer: P, now: number): Arrival<P> {
    const refused: Array<P> = []
    let misfit: P | undefined
    for (const { parked } of Array.from(this.#channels.get(newcomer.member.channel) ?? [])) {
      if (sameHolder(parked, newcomer) || !compatible(parked.member, newcomer.member)) continue
      const operatorKey = this.#newestKey(parked.member, newcomer.member)
      if (!this.#options.holds(parked.member, operatorKey, now)) {
        this.leave(parked, now)
        refused.push(parked)
        continue
      }
      if (!this.#options.holds(newcomer.member, operatorKey, now))
        return { pairing: undefined, refused: [...refused, newcomer], superseded: [] }
      const roles = directed(parked, newcomer)
      if (roles === undefined) {
        misfit ??= parked
        continue
      }
      this.leave(parked, now)
      const meets = parked.member.phase === "rendezvous" && newcomer.member.phase === "rendezvous"
      const [initiator, acceptor] = roles
      return { pairing: { initiator, acceptor, completion: meets ? "close" : "splice" }, refused, superseded: [] }
    }
    if (misfit !== undefined) {
      const unaware = [misfit, newcomer].filter((each) => !this.#hears(each, now))
      if (unaware.includes(misfit)) this.leave(misfit, now)
      refused.push(...unaware)
      if (unaware.includes(newcomer)) return { pairing: undefined, refused, superseded: [] }
    }
    return { pairing: undefined, refused, superseded: this.#park(newcomer, now) }
  }

  /** It waits no longer; false when it did not. */
  leave(present: P, now: number): boolean {
    const { channel } = present.member
    const parks = this.#channels.get(channel)
    const at = parks?.findIndex(({ parked }) => parked === present) ?? -1
    if (parks === undefined || at < 0) return false
    parks.splice(at, 1)
    this.#size -= 1
    if (parks.length === 0) this.#channels.delete(channel)
    const key = keyOf(present)
    if (this.#heard.has(key)) this.#remember(key, now)
    return true
  }

  /**
   * Whose time is over, and who has to hear that the edge is there: members of the keepalive dialect, for others would take it
   * for a word of the acknowledgement. Those whose time is over have left.
   */
  tick(now: number): { readonly expired: ReadonlyArray<P>; readonly due: ReadonlyArray<P> } {
    const expired: Array<P> = []
    const due: Array<P> = []
    for (const parks of this.#channels.values()) {
      for (const park of parks) {
        if (park.until <= now) expired.push(park.parked)
        else if (park.parked.member.keepAlive && park.nextTick <= now) {
          due.push(park.parked)
          park.nextTick += tickMillis
        }
      }
    }
    for (const parked of expired) this.leave(parked, now)
    return { expired, due }
  }

  /** Those who wait at the channel, oldest first, or everywhere. */
  waiting(channel?: string): ReadonlyArray<P> {
    const rooms = channel === undefined ? Array.from(this.#channels.values()) : [this.#channels.get(channel) ?? []]
    return rooms.flatMap((parks) => parks.map(({ parked }) => parked))
  }

  #park(newcomer: P, now: number): ReadonlyArray<P> {
    const { channel } = newcomer.member
    const parks = this.#channels.get(channel) ?? []
    const until = now + this.#options.parkMillis(newcomer.member)
    // What it heard long ago counts no more; while it waits, it does.
    const isBack = parks.some(({ parked }) => sameHolder(parked, newcomer))
    if (!isBack && (this.#heard.get(keyOf(newcomer)) ?? now) <= now) this.#heard.delete(keyOf(newcomer))
    parks.push({ parked: newcomer, until, nextTick: now + tickMillis })
    this.#channels.set(channel, parks)
    this.#size += 1
    const own = parks.filter(({ parked }) => sameHolder(parked, newcomer))
    const superseded = own.slice(0, Math.max(0, own.length - maxParks)).map(({ parked }) => parked)
    for (const parked of superseded) this.leave(parked, now)
    return superseded
  }

  /** Whether the member has heard before that its grant does not fit; it has now. */
  #hears(present: P, now: number): boolean {
    const key = keyOf(present)
    const isWaiting = this.#channels.get(present.member.channel)?.some(({ parked }) => parked === present) === true
    const before = this.#heard.get(key)
    this.#remember(key, now)
    return before !== undefined && (isWaiting || now < before)
  }

  #remember(key: string, now: number): void {
    this.#heard.set(key, now + heardMillis)
  }

  /** The key that the control plane named last: the other member may have been admitted under the one before. */
  #newestKey(a: RoomMember, b: RoomMember): Uint8Array {
    return (a.authorizedAt > b.authorizedAt ? a : b).authorization.operatorKey
  }
}
