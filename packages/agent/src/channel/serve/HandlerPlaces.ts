/**
 * How many service commands run at the same time: CT_CHANNEL_SERVE_CONCURRENCY of them in all, and the first one of each session at
 * once, so that no session waits for what another one has started. Of those that wait, the session that runs the fewest is next.
 */
import { Deferred, Effect } from "effect"
import type { Caller } from "../rpc/Tool.ts"

interface Waiting {
  readonly caller: Caller
  readonly turn: Deferred.Deferred<void>
}

export class HandlerPlaces {
  readonly #most: number
  /** Commands that run, by the session that has called them. */
  readonly #held = new Map<Caller, number>()
  readonly #waiting = new Set<Waiting>()
  #total = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Runs the command when there is a place for it. */
  hold<A, E, R>(caller: Caller, command: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      Effect.interruptible(this.#take(caller)),
      () => command,
      () => Effect.sync(() => this.#give(caller))
    )
  }

  #heldBy(caller: Caller) {
    return this.#held.get(caller) ?? 0
  }

  #isFree(caller: Caller) {
    return this.#heldBy(caller) === 0 || this.#total < this.#most
  }

  #begin(caller: Caller) {
    this.#held.set(caller, this.#heldBy(caller) + 1)
    this.#total++
  }

  #take(caller: Caller) {
    return Effect.suspend(() => {
      if (this.#isFree(caller)) return Effect.sync(() => this.#begin(caller))
      const waiting: Waiting = { caller, turn: Deferred.makeUnsafe() }
      this.#waiting.add(waiting)
      return Effect.onInterrupt(Deferred.await(waiting.turn), () =>
        Effect.sync(() => {
          // It may have got its turn just before.
          if (!this.#waiting.delete(waiting)) this.#give(caller)
        })
      )
    })
  }

  #give(caller: Caller) {
    const held = this.#heldBy(caller) - 1
    if (held === 0) this.#held.delete(caller)
    else this.#held.set(caller, held)
    this.#total--
    const [next] = [...this.#waiting]
      .filter((waiting) => this.#isFree(waiting.caller))
      .toSorted((a, b) => this.#heldBy(a.caller) - this.#heldBy(b.caller))
    if (next === undefined) return
    this.#waiting.delete(next)
    this.#begin(next.caller)
    Deferred.doneUnsafe(next.turn, Effect.void)
  }
}
