/**
 * How many unacknowledged bytes a session may have on its way. Bytes beyond what the path holds only stand in the
 * kernel's send queue, where a small answer cannot overtake them; so the limit follows delivery rate times shortest
 * round trip, both measured from acknowledgements, plus some room for the schedules of two event loops.
 */

const floorBytes = 64 * 1024
const ceilingBytes = 16 * 1024 * 1024
const initialBytes = 256 * 1024
const scheduleMillis = 5
const cruiseGain = 1.25
const startGain = 2
const rateWindowMillis = 2_000
const rttWindowMillis = 15_000
const sampleBytes = 16 * 1024

interface Mark {
  readonly end: number
  readonly at: number
  readonly ackedThen: number
  readonly backlogged: boolean
}

/** Best of the last one to two windows, so that an old value is forgotten without keeping all values. */
class Best {
  #current: number
  #previous: number
  #since: number
  readonly #worst: number
  readonly #pick: (a: number, b: number) => number

  constructor(worst: number, pick: (a: number, b: number) => number, now: number) {
    this.#worst = worst
    this.#pick = pick
    this.#current = worst
    this.#previous = worst
    this.#since = now
  }

  get value(): number {
    return this.#pick(this.#current, this.#previous)
  }

  /** `true` when a window ended with this sample. */
  add(sample: number, now: number, windowMillis: number): boolean {
    const turned = now - this.#since >= windowMillis && this.#current !== this.#worst
    if (turned) {
      this.#previous = this.#current
      this.#current = this.#worst
      this.#since = now
    }
    this.#current = this.#pick(this.#current, sample)
    return turned
  }
}

export class InFlight {
  #sent = 0
  #acked = 0
  #marks: Array<Mark> = []
  #markedTo = 0
  readonly #rate: Best
  readonly #rtt: Best
  #starting = true
  #roundEnd = 0
  #roundRate = 0
  #flatRounds = 0
  #drainUntil = 0
  #limit = initialBytes

  constructor(now: number) {
    this.#rate = new Best(0, Math.max, now)
    this.#rtt = new Best(Number.POSITIVE_INFINITY, Math.min, now)
  }

  get bytes(): number {
    return this.#sent - this.#acked
  }

  get limit(): number {
    return this.#limit
  }

  /** `backlogged`: more was waiting to be sent, so what arrives says something about the path. */
  sent(bytes: number, now: number, backlogged: boolean): void {
    this.#sent += bytes
    if (this.#marks.length > 0 && this.#sent - this.#markedTo < sampleBytes) return
    this.#markedTo = this.#sent
    this.#marks.push({ end: this.#sent, at: now, ackedThen: this.#acked, backlogged })
  }

  /** `false` when the peer acknowledges bytes that were never sent. */
  acked(bytes: number, now: number): boolean {
    this.#acked += bytes
    if (this.#acked > this.#sent) return false
    let passed = 0
    let mark: Mark | undefined
    for (; passed < this.#marks.length; passed++) {
      const next = this.#marks[passed]
      if (next === undefined || next.end > this.#acked) break
      mark = next
    }
    if (mark === undefined) return true
    this.#marks.splice(0, passed)
    this.#measure(mark, now)
    return true
  }

  #measure(mark: Mark, now: number): void {
    const elapsed = Math.max(now - mark.at, 0.01)
    if (this.#rtt.add(elapsed, now, rttWindowMillis)) this.#drainUntil = now + 2 * this.#rtt.value
    const rate = (this.#acked - mark.ackedThen) / elapsed
    if (mark.backlogged || rate > this.#rate.value) this.#rate.add(rate, now, rateWindowMillis)
    if (this.#starting && mark.backlogged && mark.end > this.#roundEnd) this.#endRound()
    const gain = this.#starting ? startGain : cruiseGain
    const held = this.#rate.value * this.#rtt.value
    const wanted = now < this.#drainUntil ? held / 2 : gain * held + this.#rate.value * scheduleMillis
    if (this.#starting && wanted < this.#limit) return
    this.#limit = Math.min(ceilingBytes, Math.max(floorBytes, Math.ceil(wanted)))
  }

  /** The limit doubles every round trip until the rate stops following it. */
  #endRound(): void {
    this.#roundEnd = this.#sent
    this.#flatRounds = this.#rate.value < this.#roundRate * 1.25 ? this.#flatRounds + 1 : 0
    this.#roundRate = Math.max(this.#roundRate, this.#rate.value)
    if (this.#flatRounds >= 3) this.#starting = false
  }
}
