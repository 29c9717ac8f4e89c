/**
 * How many unacknowledged bytes a session may have on its way. Bytes beyond what the path holds only stand in the
 * kernel's send queue, where a small answer cannot overtake them; so the limit follows delivery rate times shortest
 * round trip, both measured from acknowledgements, plus some room for the schedules of two event loops.
 * @internal
 */

const floorBytes = 64 * 1024
const ceilingBytes = 16 * 1024 * 1024
const initialBytes = 256 * 1024
const scheduleMillis = 5
const cruiseGain = 1.25
const startGain = 2
const rateWindowMillis = 2_000
const rttWindowMillis = 15_000
const markBytes = 16 * 1024
/** A rate measured over less depends more on the schedules than on the path. */
const shortestRoundMillis = 4

/** A moment of sending, found again when its bytes are acknowledged. */
interface Mark {
  readonly end: number
  readonly at: number
  readonly backlogged: boolean
}

/** The largest or smallest sample of the last one to two windows; an old one is dropped without keeping all of them. */
class WindowedExtremum {
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
  readonly #rate: WindowedExtremum
  readonly #rtt: WindowedExtremum
  #round: { readonly end: number; readonly at: number; readonly acked: number; backlogged: boolean }
  #starting = true
  #startRate = 0
  #flatRounds = 0
  #drainUntil = 0
  #limit = initialBytes

  constructor(now: number) {
    this.#rate = new WindowedExtremum(0, Math.max, now)
    this.#rtt = new WindowedExtremum(Number.POSITIVE_INFINITY, Math.min, now)
    this.#round = { end: 0, at: now, acked: 0, backlogged: false }
  }

  get bytes(): number {
    return this.#sent - this.#acked
  }

  get limit(): number {
    return this.#limit
  }

  /** `backlogged`: more was waiting to be sent, so the rate at which it arrives is that of the path. */
  sent(bytes: number, now: number, backlogged: boolean): void {
    this.#sent += bytes
    if (this.#marks.length > 0 && this.#sent - this.#markedTo < markBytes) return
    this.#markedTo = this.#sent
    this.#marks.push({ end: this.#sent, at: now, backlogged })
  }

  /** `false` when the peer acknowledges bytes that were never sent. */
  acked(bytes: number, now: number): boolean {
    this.#acked += bytes
    if (this.#acked > this.#sent) return false
    let passed = 0
    for (const mark of this.#marks) {
      if (mark.end > this.#acked) break
      passed++
      this.#round.backlogged &&= mark.backlogged
    }
    const last = this.#marks[passed - 1]
    if (last === undefined) return true
    this.#marks.splice(0, passed)
    if (this.#rtt.add(Math.max(now - last.at, 0.01), now, rttWindowMillis)) this.#drainUntil = now + 2 * this.#rtt.value
    if (last.end > this.#round.end && now - this.#round.at >= shortestRoundMillis) this.#endRound(now)
    return true
  }

  /** Once a round trip: what came through since the last time, and what that makes of the limit. */
  #endRound(now: number): void {
    const { acked, at, backlogged } = this.#round
    this.#round = { end: this.#sent, at: now, acked: this.#acked, backlogged: true }
    const rate = (this.#acked - acked) / (now - at)
    if (backlogged || rate > this.#rate.value) this.#rate.add(rate, now, rateWindowMillis)
    if (this.#starting && backlogged) this.#watchStart()
    const held = this.#rate.value * this.#rtt.value
    const gain = this.#starting ? startGain : cruiseGain
    const wanted = now < this.#drainUntil ? held / 2 : gain * held + this.#rate.value * scheduleMillis
    if (this.#starting && wanted < this.#limit) return
    this.#limit = Math.min(ceilingBytes, Math.max(floorBytes, Math.ceil(wanted)))
  }

  /** The limit doubles every round trip until the rate stops following it. */
  #watchStart(): void {
    this.#flatRounds = this.#rate.value < this.#startRate * 1.25 ? this.#flatRounds + 1 : 0
    this.#startRate = Math.max(this.#startRate, this.#rate.value)
    if (this.#flatRounds >= 3) this.#starting = false
  }
}
