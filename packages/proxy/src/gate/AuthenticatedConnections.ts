/**
 * The visits of gelb hosts that run now, by tunnel, so that a session that ends takes along what it began: a WebSocket or a
 * long answer is cut and not only the next request refused.
 */

/** One connection of HTTP/1, or one request of HTTP/2. */
export interface Visit {
  readonly host: string
  /** What the visitor showed last; absent where nothing was asked for. */
  session: string | undefined
  /** When the session expires, in unix milliseconds. */
  until: number | null
  /** Bytes of the visitor are forwarded to the origin, or are about to be. */
  open: boolean
  /** The visitor may no longer pass: it ends within a second. */
  readonly end: () => void
}

export class AuthenticatedConnections {
  readonly #running = new Map<string, Set<Visit>>()

  /** Returns how to leave. */
  enter(token: string, visit: Visit): () => void {
    const all = this.#running.get(token) ?? new Set()
    this.#running.set(token, all.add(visit))
    return () => {
      all.delete(visit)
      if (all.size === 0 && this.#running.get(token) === all) this.#running.delete(token)
    }
  }

  of(token: string): ReadonlyArray<Visit> {
    return Array.from(this.#running.get(token) ?? [])
  }

  /** Those whose session is over at `now`. */
  over(now: number): ReadonlyArray<Visit> {
    const found: Array<Visit> = []
    for (const all of this.#running.values())
      for (const visit of all) if (visit.until !== null && visit.until <= now) found.push(visit)
    return found
  }
}
