/**
 * Limits the rate of new connections per address (IPv6: per /64). Each costs a TLS handshake, a millisecond of the shared event
 * loop, so connections over the limit are queued per address (FIFO). Local programs are exempt, because a proxy in front of the
 * edge carries many clients.
 */
import { addressBlock } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { Socket } from "node:net"

/** Burst: connections that an address may open at once. */
export const connectionBurst = 32

const ownAddresses: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "::ffff:127.0.0.1"])

interface Lane {
  /** Time after which the whole burst is available again. */
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

  /** Calls `open` when the connection is due: at once, later, or never if it has closed. */
  scheduleAt(socket: Socket, open: () => void): void {
    const address = socket.remoteAddress ?? ""
    if (this.#intervalMillis === 0 || ownAddresses.has(address)) return open()
    const now = Scheduler.monotonicMillis()
    const lane = this.#laneOf(addressBlock(address), now)
    if (lane.waiting.length === 0 && this.#spend(lane, now)) return open()
    lane.waiting.push({ socket, open })
    this.#schedule(lane)
  }

  /** Number of addresses remembered. */
  get size(): number {
    return this.#lanes.size
  }

  /** In order of last use, so that idle entries are at the front. */
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
    // An accepted socket has no fiber yet.
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
