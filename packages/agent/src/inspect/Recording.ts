/**
 * The requests that the inspector shows: the last 500, with at most 1 MiB of each body and 64 MiB in all. When there is more, the
 * oldest bodies give way, and then the oldest requests. Kept in memory only, as the bytes were; nothing is parsed here.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import type { Visit } from "../observe/Inspection.ts"

export const maxRequests = 500
export const maxBody = 1_048_576
const maxTotal = 67_108_864
/** What a piece costs beside its bytes. */
const pieceCost = 128

/** A visit, or a replay of one. */
export interface Recorded extends Visit {
  /** The request that this one repeats. */
  readonly replayOf?: number
}

/** A piece of a body or, after an upgrade, of one direction. */
export interface Piece {
  /** Milliseconds since the request began. */
  readonly at: number
  readonly bytes: Buffer
}

export class Body {
  readonly pieces: Array<Piece> = []
  /** Bytes that passed, and those of them that are kept. */
  size = 0
  kept = 0

  /** Whether every byte is kept. */
  get isComplete(): boolean {
    return this.kept === this.size
  }

  bytes(): Buffer {
    return Buffer.concat(this.pieces.map(({ bytes }) => bytes))
  }
}

export class Exchange {
  readonly id: number
  readonly visit: Recorded
  /** Unix milliseconds. */
  readonly startedAt = Scheduler.wallMillis()
  readonly #began = Scheduler.monotonicMillis()
  /** Without the empty line at the end. */
  readonly requestHead: Buffer
  readonly requestBody = new Body()
  responseHead: Buffer | undefined
  readonly responseBody = new Body()
  /** Milliseconds since the request began. */
  requestEnd: number | undefined
  responseStart: number | undefined
  end: number | undefined
  /** The connection broke before the response was whole. */
  isBroken = false
  /** Both directions left HTTP. */
  isUpgraded = false
  /** Why no response came. */
  failure: string | undefined
  /** What it counts for in the total. */
  cost: number
  /** Its bodies gave way to newer requests. */
  hasGivenWay = false

  constructor(id: number, visit: Recorded, head: Buffer) {
    this.id = id
    this.visit = visit
    this.requestHead = head
    this.cost = head.length + pieceCost
  }

  now(): number {
    return Scheduler.monotonicMillis() - this.#began
  }
}

/** Not a part of a larger buffer, which it would keep. */
const copyOf = (bytes: Uint8Array) => {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}

export class Recording {
  readonly #exchanges = new Map<number, Exchange>()
  readonly #most: number
  #total = 0
  #last = 0
  /** Bodies of requests before this one have given way. */
  #full = 1
  /** Grows with every change. */
  version = 0

  constructor(most = maxTotal) {
    this.#most = most
  }

  /** Bytes that are kept. */
  get total(): number {
    return this.#total
  }

  /** The newest first. */
  list(): ReadonlyArray<Exchange> {
    return Array.from(this.#exchanges.values()).reverse()
  }

  get(id: number): Exchange | undefined {
    return this.#exchanges.get(id)
  }

  clear(): void {
    for (const exchange of this.#exchanges.values()) this.#forget(exchange)
  }

  begin(visit: Recorded, head: Uint8Array): Exchange {
    const exchange = new Exchange(++this.#last, visit, copyOf(head))
    this.#exchanges.set(exchange.id, exchange)
    const [oldest] = this.#exchanges.values()
    if (this.#exchanges.size > maxRequests && oldest !== undefined) this.#forget(oldest)
    this.#grow(exchange.cost)
    return exchange
  }

  respond(exchange: Exchange, head: Uint8Array): void {
    if (!this.#exchanges.has(exchange.id)) return
    exchange.responseHead = copyOf(head)
    exchange.responseStart = exchange.now()
    exchange.cost += head.length
    this.#grow(head.length)
  }

  append(exchange: Exchange, body: Body, bytes: Uint8Array): void {
    const isWhole = body.isComplete
    body.size += bytes.length
    this.version++
    const room = Math.min(bytes.length, maxBody - body.kept)
    if (!isWhole || room <= 0 || exchange.hasGivenWay || body.pieces.length * pieceCost > maxBody) return
    body.pieces.push({ at: exchange.now(), bytes: copyOf(bytes.subarray(0, room)) })
    body.kept += room
    exchange.cost += room + pieceCost
    this.#grow(room + pieceCost)
  }

  finish(exchange: Exchange, isBroken: boolean): void {
    exchange.end = exchange.now()
    exchange.isBroken = isBroken
    this.version++
  }

  #grow(cost: number) {
    this.version++
    this.#total += cost
    while (this.#total > this.#most && this.#full <= this.#last) this.#giveWay(this.#exchanges.get(this.#full++))
    for (const exchange of this.#exchanges.values()) {
      if (this.#total <= this.#most) return
      this.#forget(exchange)
    }
  }

  #giveWay(exchange: Exchange | undefined) {
    if (exchange === undefined) return
    exchange.hasGivenWay = true
    for (const body of [exchange.requestBody, exchange.responseBody]) {
      const freed = body.kept + body.pieces.length * pieceCost
      body.pieces.length = 0
      body.kept = 0
      exchange.cost -= freed
      this.#total -= freed
    }
  }

  #forget(exchange: Exchange) {
    if (!this.#exchanges.delete(exchange.id)) return
    exchange.hasGivenWay = true
    this.#total -= exchange.cost
    this.version++
  }
}
