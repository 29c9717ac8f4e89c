/**
 * What was cut a moment ago: a member that was let in by an answer from before must not come in after. Times are arguments, in
 * epoch milliseconds.
 */
const remembered = 60_000

export class RevocationTombstones {
  readonly #at = new Map<string, number>()

  /** Without a holder all members of the channel are cut. */
  note(channel: string, holder: string | undefined, now: number): void {
    const key = `${channel} ${holder ?? ""}`
    this.#at.delete(key)
    this.#at.set(key, now)
    for (const [oldest, at] of this.#at) {
      if (now - at <= remembered) break
      this.#at.delete(oldest)
    }
  }

  /** Whether what the control plane said then may be of before a cut. */
  outdates(channel: string, holder: string, answeredAt: number): boolean {
    return [holder, ""].some((each) => answeredAt <= (this.#at.get(`${channel} ${each}`) ?? Number.NEGATIVE_INFINITY))
  }
}
