/** The in-flight limit on simulated paths: how much of the line it fills, and how long it makes others wait. */
import { assert, describe, it } from "@effect/vitest"
import { InFlight } from "../../src/transport/InFlight.ts"

interface Path {
  readonly rttMillis: number
  /** Bytes a millisecond. */
  readonly rate: number
}

interface Outcome {
  /** Part of the line's rate that was used, after the first second. */
  readonly used: number
  /** Longest stand in the queue before the line, after the first second. */
  readonly queueMillis: number
  readonly limit: number
}

/** A sender with endless data and a receiver that acknowledges every 16 KiB, in steps of a tenth of a millisecond. */
const run = (path: (now: number) => Path, millis: number, warmMillis: number): Outcome => {
  const inFlight = new InFlight(0)
  const frame = 32 * 1024
  const arriving: Array<{ readonly at: number; readonly bytes: number }> = []
  let lineFreeAt = 0
  let unacked = 0
  const acks: Array<{ readonly at: number; readonly bytes: number }> = []
  let delivered = 0
  let queueMillis = 0
  for (let now = 0; now < millis; now += 0.1) {
    const { rate, rttMillis } = path(now)
    while (acks[0] !== undefined && acks[0].at <= now) assert.isTrue(inFlight.acked(acks.shift()!.bytes, now))
    while (inFlight.bytes < inFlight.limit) {
      inFlight.sent(frame, now, true)
      const start = Math.max(now, lineFreeAt)
      if (now > warmMillis) queueMillis = Math.max(queueMillis, start - now)
      lineFreeAt = start + frame / rate
      arriving.push({ at: lineFreeAt + rttMillis / 2, bytes: frame })
    }
    while (arriving[0] !== undefined && arriving[0].at <= now) {
      const { bytes } = arriving.shift()!
      unacked += bytes
      if (now > warmMillis) delivered += bytes
      if (unacked >= 16 * 1024) {
        acks.push({ at: now + rttMillis / 2, bytes: unacked })
        unacked = 0
      }
    }
  }
  const { rate } = path(millis)
  return { used: delivered / (rate * (millis - warmMillis)), queueMillis, limit: inFlight.limit }
}

describe("InFlight", () => {
  const paths: ReadonlyArray<readonly [string, Path]> = [
    ["a home uplink", { rttMillis: 30, rate: 1_250 }],
    ["200 Mbit/s over 30 ms", { rttMillis: 30, rate: 25_000 }],
    ["1 Gbit/s over 100 ms", { rttMillis: 100, rate: 125_000 }],
    ["a local network", { rttMillis: 0.5, rate: 125_000 }]
  ]
  for (const [name, path] of paths) {
    it(`fills ${name} and leaves a short queue`, () => {
      const { queueMillis, used } = run(() => path, 12_000, 3_000)
      assert.isAbove(used, 0.93)
      const frames = (2 * 64 * 1024) / path.rate
      assert.isBelow(queueMillis, 0.35 * path.rttMillis + 7 + frames)
    })
  }

  it("adapts to a line that becomes slower, and to one that becomes faster", () => {
    const line = (before: number, after: number) => (now: number) => ({
      rttMillis: 30,
      rate: now < 4_000 ? before : after
    })
    const slower = run(line(25_000, 2_500), 14_000, 11_000)
    assert.isAbove(slower.used, 0.93)
    assert.isBelow(slower.queueMillis, 60)
    const faster = run(line(2_500, 25_000), 14_000, 8_000)
    assert.isAbove(faster.used, 0.93)
    assert.isBelow(faster.queueMillis, 25)
  })

  it("does not grow during a minute of standing queues", () => {
    const { queueMillis, used } = run(() => ({ rttMillis: 30, rate: 5_000 }), 60_000, 20_000)
    assert.isAbove(used, 0.93)
    assert.isBelow(queueMillis, 45)
  })

  it("does not shrink for a sender with little data", () => {
    const inFlight = new InFlight(0)
    const before = inFlight.limit
    for (let now = 0; now < 60_000; now += 50) {
      inFlight.sent(500, now, false)
      assert.isTrue(inFlight.acked(500, now + 30))
    }
    assert.isAtLeast(inFlight.limit, before)
  })

  it("notices acknowledgements of bytes that were never sent", () => {
    const inFlight = new InFlight(0)
    inFlight.sent(100, 0, false)
    assert.isFalse(inFlight.acked(101, 1))
  })
})
