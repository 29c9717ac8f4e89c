/** A request that the inspector keeps: the place where it is written, and how it is read. */
import { Scheduler } from "@catenet/platform/Scheduler"
import type { Visit } from "../observe/Inspection.ts"

/** Bytes of a body that are kept. */
export const maxBody = 1_048_576
/** What a piece costs beside its bytes. */
export const pieceCost = 128
/** A place keeps no more memory than this for the head or body to come. */
const keptRoom = 2_048
const nothing = Buffer.alloc(0)

/** A visit, or a replay of one. */
export interface Recorded extends Visit {
  /** The request that this one repeats. */
  readonly replayOf?: number
  /** The service that it reached, in an agent that has several. */
  readonly service?: string
}

/** A piece of a body or, after an upgrade, of one direction. */
export interface Piece {
  /** Milliseconds since the request began. */
  readonly at: number
  readonly bytes: Buffer
}

export type Side = "request" | "response"

/** Bytes in one buffer that is used again. */
class Store {
  #room: Buffer = nothing
  length = 0

  add(bytes: Uint8Array): void {
    const needed = this.length + bytes.length
    if (needed > this.#room.length) {
      // A long body grows by a quarter, so that little of what it holds is empty.
      const room = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(this.length * 2, this.length + maxBody / 4), 256))
      this.#room.copy(room, 0, 0, this.length)
      this.#room = room
    }
    this.#room.set(bytes, this.length)
    this.length = needed
  }

  empty(): void {
    this.length = 0
    if (this.#room.length > keptRoom) this.#room = nothing
  }

  copy(from: number, to: number): Buffer {
    return Buffer.from(this.#room.subarray(from, to))
  }
}

class StoredBody {
  /** Bytes that passed. */
  size = 0
  pieces = 0
  readonly bytes = new Store()
  readonly #at: Array<number> = []
  readonly #ends: Array<number> = []

  get isComplete(): boolean {
    return this.bytes.length === this.size
  }

  add(bytes: Uint8Array, at: number): void {
    this.bytes.add(bytes)
    this.#at[this.pieces] = at
    this.#ends[this.pieces] = this.bytes.length
    this.pieces++
  }

  piecesOf(count: number): ReadonlyArray<Piece> {
    return Array.from({ length: count }, (_, n) => ({
      at: this.#at[n] ?? 0,
      bytes: this.bytes.copy(this.#ends[n - 1] ?? 0, this.#ends[n] ?? 0)
    }))
  }

  /** Frees what is kept. */
  giveWay(): void {
    this.bytes.empty()
    this.pieces = 0
    if (this.#at.length > keptRoom / 16) this.#at.length = this.#ends.length = 0
  }

  clear(): void {
    this.giveWay()
    this.size = 0
  }
}

const unknown = -1

/**
 * Where a request is kept, and later the 500th after it: objects that live for so long and end in order are what a collector does
 * worst, and made half of the inspector's cost. Times are milliseconds since it began, -1 while there is none. */
export class Place {
  id = 0
  visit: Recorded | undefined
  startedAt = 0
  began = 0
  readonly heads = new Store()
  requestHead = 0
  hasResponse = false
  readonly request = new StoredBody()
  readonly response = new StoredBody()
  requestEnd = unknown
  responseStart = unknown
  end = unknown
  isBroken = false
  isUpgraded = false
  failure: string | undefined
  cost = 0
  hasGivenWay = false
  /** As it was last shown, until it changes. */
  shown: Exchange | undefined

  begin(id: number, visit: Recorded, head: Uint8Array): void {
    this.id = id
    this.visit = visit
    this.startedAt = Scheduler.wallMillis()
    this.began = Scheduler.monotonicMillis()
    this.heads.empty()
    this.heads.add(head)
    this.requestHead = head.length
    this.hasResponse = false
    this.request.clear()
    this.response.clear()
    this.requestEnd = this.responseStart = this.end = unknown
    this.isBroken = this.isUpgraded = this.hasGivenWay = false
    this.failure = undefined
    this.cost = head.length + pieceCost
    this.shown = undefined
  }

  now(): number {
    return Scheduler.monotonicMillis() - this.began
  }

  read(): Exchange | undefined {
    return this.visit === undefined ? undefined : (this.shown ??= new Exchange(this, this.visit))
  }
}

export class Body {
  readonly #place: Place
  readonly #side: Side
  readonly #id: number
  readonly #pieces: number
  /** Bytes that passed, and those of them that are kept. */
  readonly size: number
  readonly kept: number

  constructor(place: Place, side: Side) {
    this.#place = place
    this.#side = side
    this.#id = place.id
    this.size = place[side].size
    this.kept = place[side].bytes.length
    this.#pieces = place[side].pieces
  }

  /** Whether every byte is kept. */
  get isComplete(): boolean {
    return this.kept === this.size
  }

  /** None once they have given way. */
  get #isThere(): boolean {
    return this.#place.id === this.#id && this.#place[this.#side].bytes.length >= this.kept
  }

  bytes(): Buffer {
    return this.#isThere ? this.#place[this.#side].bytes.copy(0, this.kept) : nothing
  }

  get pieces(): ReadonlyArray<Piece> {
    return this.#isThere ? this.#place[this.#side].piecesOf(this.#pieces) : []
  }
}

const known = (millis: number) => (millis === unknown ? undefined : millis)

/** A request as it stands, with the part of its bodies that had come. */
export class Exchange {
  readonly id: number
  readonly visit: Recorded
  /** Unix milliseconds. */
  readonly startedAt: number
  /** Without the empty line at the end. */
  readonly requestHead: Buffer
  readonly requestBody: Body
  readonly responseHead: Buffer | undefined
  readonly responseBody: Body
  /** Milliseconds since the request began. */
  readonly requestEnd: number | undefined
  readonly responseStart: number | undefined
  readonly end: number | undefined
  /** The connection broke before the response was whole. */
  readonly isBroken: boolean
  /** Both directions left HTTP. */
  readonly isUpgraded: boolean
  /** Why no response came. */
  readonly failure: string | undefined
  /** Its bodies gave way to newer requests. */
  readonly hasGivenWay: boolean

  constructor(place: Place, visit: Recorded) {
    this.id = place.id
    this.visit = visit
    this.startedAt = place.startedAt
    this.requestHead = place.heads.copy(0, place.requestHead)
    this.requestBody = new Body(place, "request")
    this.responseHead = place.hasResponse ? place.heads.copy(place.requestHead, place.heads.length) : undefined
    this.responseBody = new Body(place, "response")
    this.requestEnd = known(place.requestEnd)
    this.responseStart = known(place.responseStart)
    this.end = known(place.end)
    this.isBroken = place.isBroken
    this.isUpgraded = place.isUpgraded
    this.failure = place.failure
    this.hasGivenWay = place.hasGivenWay
  }
}
