/**
 * Recent revocations: a member that was authorized before one must not enter after it. Times are arguments, in epoch milliseconds.
 */
const remembered = 60_000

export class RevocationTombstones {
  readonly #at = new Map<string, number>()

  /** Without a holder, all members of the channel. */
  note(channel: string, holder: string | undefined, now: number): void {
    const key = `${channel} ${holder ?? ""}`
    this.#at.delete(key)
    this.#at.set(key, now)
    for (const [oldest, at] of this.#at) {
      if (now - at <= remembered) break
      this.#at.delete(oldest)
    }
  }

  /** Whether an answer of that time may be older than a revocation. */
  outdates(channel: string, holder: string, answeredAt: number): boolean {
    return [holder, ""].some((each) => answeredAt <= (this.#at.get(`${channel} ${each}`) ?? Number.NEGATIVE_INFINITY))
  }
}
