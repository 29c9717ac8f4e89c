/**
 * Lets addresses (of IPv6 a /64) take turns with their requests, because one loop serves all of them: while several send requests,
 * each starts a few in one turn of the loop, and fewer if the loop is late. A single address starts all that it has.
 */
import { addressBlock } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"

/** Requests that each address starts in one turn of the loop: if the loop is late, and if it is not. */
const lateShare = 4
const promptShare = 64
/** The loop is late if what it does between two turns takes longer. */
const lateMillis = 4
/** For so long starts may hold up the loop, if several addresses ask and if one does. */
const sharedMillis = 2
const aloneMillis = 10
/** For so long after a request its address counts as one of several. */
const memoryMillis = 1_000

export class RequestTurns {
  /** What waits, by address, each in its order. */
  readonly #waiting = new Map<string, Array<() => void>>()
  /** Requests read in this turn of the loop. */
  readonly #read = new Map<string, number>()
  #share = promptShare
  #last: { readonly block: string; readonly at: number } | undefined
  #sharedUntil = 0
  #endedAt: number | undefined
  #isScheduled = false

  /** An address is about to send requests; returns whether others send some too. */
  note(block: string, now = Scheduler.monotonicMillis()): boolean {
    const last = this.#last
    if (last !== undefined && last.block !== block && now - last.at < memoryMillis)
      this.#sharedUntil = now + memoryMillis
    this.#last = { block, at: now }
    return now < this.#sharedUntil
  }

  /** Starts a request after the events of this turn of the loop, when it is its address's turn. */
  start(address: string, start: () => void): void {
    const block = addressBlock(address)
    this.note(block)
    this.#wait(block, start)
  }

  /**
   * A request was read and has started. If its address has read many in this turn of the loop, returns true; the connection is
   * then not read until `resume` is called.
   */
  rest(address: string, resume: () => void): boolean {
    const block = addressBlock(address)
    if (!this.note(block)) return false
    const read = (this.#read.get(block) ?? 0) + 1
    this.#read.set(block, read)
    if (read <= this.#share) {
      this.#schedule()
      return false
    }
    this.#wait(block, resume)
    return true
  }

  #wait(block: string, task: () => void) {
    const queue = this.#waiting.get(block)
    if (queue === undefined) this.#waiting.set(block, [task])
    else queue.push(task)
    this.#schedule()
  }

  #schedule() {
    if (this.#isScheduled) return
    this.#isScheduled = true
    Scheduler.setImmediate(this.#turn)
  }

  readonly #turn = () => {
    const began = Scheduler.monotonicMillis()
    const isLate = this.#endedAt !== undefined && began - this.#endedAt > lateMillis
    this.#share = isLate ? Math.max(lateShare, this.#share >> 1) : Math.min(promptShare, this.#share + 1)
    this.#isScheduled = false
    this.#read.clear()
    const isShared = began < this.#sharedUntil
    const until = began + (isShared ? sharedMillis : aloneMillis)
    const rounds = isShared ? this.#share : Number.POSITIVE_INFINITY
    for (let round = 0; this.#waiting.size > 0 && round < rounds; round++) {
      if (round > 0 && Scheduler.monotonicMillis() > until) break
      for (const [block, queue] of this.#waiting) {
        const task = queue.shift()
        if (queue.length === 0) this.#waiting.delete(block)
        task?.()
      }
    }
    this.#endedAt = this.#waiting.size > 0 ? Scheduler.monotonicMillis() : undefined
    if (this.#waiting.size > 0) this.#schedule()
  }
}
