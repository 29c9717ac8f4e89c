/**
 * The requests that the inspector shows: the last 500, with at most 1 MiB of each body and 64 MiB in all. When there is more, the
 * oldest bodies give way, and then the oldest requests. Kept in memory only, as the bytes were; nothing is parsed here.
 */
import { type Exchange, maxBody, pieceCost, Place, type Recorded, type Side } from "./Exchange.ts"

export const maxRequests = 500
const maxTotal = 67_108_864
/** Each request gets the next number. A call about one that is no longer kept does nothing. */
export class Recording {
  readonly #places: Array<Place> = []
  readonly #most: number
  #total = 0
  #last = 0
  /** Requests before this one are kept no longer. */
  #first = 1
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
    const listed: Array<Exchange> = []
    for (let id = this.#last; id >= this.#first; id--) {
      const exchange = this.get(id)
      if (exchange !== undefined) listed.push(exchange)
    }
    return listed
  }

  get(id: number): Exchange | undefined {
    return this.#at(id)?.read()
  }

  clear(): void {
    while (this.#first <= this.#last) this.#forget()
  }

  /** Returns the number of the request. */
  begin(visit: Recorded, head: Uint8Array): number {
    if (this.#last - this.#first + 1 === maxRequests) this.#forget()
    const id = ++this.#last
    const place = (this.#places[id % maxRequests] ??= new Place())
    place.begin(id, visit, head)
    this.#grow(place.cost)
    return id
  }

  respond(id: number, head: Uint8Array): void {
    const place = this.#changed(id)
    if (place === undefined) return
    place.heads.add(head)
    place.hasResponse = true
    place.responseStart = place.now()
    place.cost += head.length
    this.#grow(head.length)
  }

  append(id: number, side: Side, bytes: Uint8Array): void {
    const place = this.#changed(id)
    if (place === undefined) return
    const body = place[side]
    const isWhole = body.isComplete
    body.size += bytes.length
    const room = Math.min(bytes.length, maxBody - body.bytes.length)
    if (!isWhole || room <= 0 || place.hasGivenWay || body.pieces * pieceCost > maxBody) return
    body.add(room < bytes.length ? bytes.subarray(0, room) : bytes, place.now())
    place.cost += room + pieceCost
    this.#grow(room + pieceCost)
  }

  /** The whole request has been sent. */
  sent(id: number): void {
    const place = this.#changed(id)
    if (place !== undefined) place.requestEnd = place.now()
  }

  upgrade(id: number): void {
    const place = this.#changed(id)
    if (place !== undefined) place.isUpgraded = true
  }

  fail(id: number, why: string): void {
    const place = this.#changed(id)
    if (place !== undefined) place.failure = why
  }

  /** `isInOrder`: the connection ended as HTTP ends it, so that what was upgraded is whole. */
  finish(id: number, isBroken: boolean, isInOrder = false): void {
    const place = this.#changed(id)
    if (place === undefined) return
    place.end = place.now()
    place.isBroken = isBroken && !(isInOrder && place.isUpgraded)
  }

  #at(id: number): Place | undefined {
    const place = id < this.#first ? undefined : this.#places[id % maxRequests]
    return place?.id === id ? place : undefined
  }

  #changed(id: number): Place | undefined {
    const place = this.#at(id)
    this.version++
    if (place !== undefined) place.shown = undefined
    return place
  }

  #grow(cost: number) {
    this.version++
    this.#total += cost
    while (this.#total > this.#most && this.#full <= this.#last) this.#giveWay(this.#full++)
    while (this.#total > this.#most && this.#first <= this.#last) this.#forget()
  }

  #giveWay(id: number) {
    const place = this.#changed(id)
    if (place === undefined) return
    place.hasGivenWay = true
    for (const body of [place.request, place.response]) {
      const freed = body.bytes.length + body.pieces * pieceCost
      body.giveWay()
      place.cost -= freed
      this.#total -= freed
    }
  }

  /** The oldest one. */
  #forget() {
    const place = this.#at(this.#first)
    this.#first++
    this.version++
    if (place === undefined) return
    this.#total -= place.cost
    place.visit = undefined
    place.shown = undefined
    place.request.clear()
    place.response.clear()
  }
}
