/**
 * How fast one address (of IPv6 one /64) may open connections. Each costs a TLS handshake, a millisecond of the loop that
 * serves everybody, so those over the rate wait unread, in their order, and one address delays only itself. Programs of
 * this machine are not paced: a proxy before the edge has the connections of many.
 */
import { addressBlock } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { Socket } from "node:net"

/** Connections that an address opens at once before its rate counts. */
export const connectionBurst = 32

const ownAddresses: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "::ffff:127.0.0.1"])

interface Lane {
  /** When the whole burst is there again. */
  restedAt: number
  readonly waiting: Array<{ readonly socket: Socket; readonly open: () => void }>
  timer: NodeJS.Timeout | undefined
}

export class ConnectionRateLimiter {
  readonly #lanes = new Map<string, Lane>()
  readonly #intervalMillis: number

  /** `perSecond`: 0 for no limit. */
  constructor(perSecond: number) {
    this.#intervalMillis = perSecond === 0 ? 0 : 1_000 / perSecond
  }

  /** Calls `open` when the connection's turn has come: at once, later, or never when it has closed. */
  scheduleAt(socket: Socket, open: () => void): void {
    const address = socket.remoteAddress ?? ""
    if (this.#intervalMillis === 0 || ownAddresses.has(address)) return open()
    const now = Scheduler.monotonicMillis()
    const lane = this.#laneOf(addressBlock(address), now)
    if (lane.waiting.length === 0 && this.#spend(lane, now)) return open()
    lane.waiting.push({ socket, open })
    this.#schedule(lane)
  }

  /** Addresses that are remembered. */
  get size(): number {
    return this.#lanes.size
  }

  /** Those used last stand last, so that the ones at rest are found at the front. */
  #laneOf(block: string, now: number): Lane {
    const lane = this.#lanes.get(block) ?? { restedAt: now, waiting: [], timer: undefined }
    this.#lanes.delete(block)
    for (const [other, { restedAt, waiting }] of this.#lanes) {
      if (waiting.length > 0 || restedAt > now) break
      this.#lanes.delete(other)
    }
    this.#lanes.set(block, lane)
    return lane
  }

  #spend(lane: Lane, now: number): boolean {
    const restedAt = Math.max(lane.restedAt, now) + this.#intervalMillis
    if (restedAt - now > connectionBurst * this.#intervalMillis) return false
    lane.restedAt = restedAt
    return true
  }

  #schedule(lane: Lane) {
    // A socket that was accepted has no fiber yet.
    lane.timer ??= Scheduler.setTimeout(() => this.#turn(lane), this.#intervalMillis).unref()
  }

  #turn(lane: Lane) {
    lane.timer = undefined
    while (lane.waiting[0]?.socket.destroyed === true) lane.waiting.shift()
    const next = lane.waiting[0]
    if (next === undefined) return
    if (this.#spend(lane, Scheduler.monotonicMillis())) {
      lane.waiting.shift()
      next.open()
    }
    if (lane.waiting.length > 0) this.#schedule(lane)
  }
}
