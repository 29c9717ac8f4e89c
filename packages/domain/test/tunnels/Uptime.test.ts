import { longestOutage, reached, totals, uptime, uptimeByDay, uptimeWindows } from "@catenet/domain/tunnels/Uptime"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { between, often } from "../values/history.ts"

const minutes = 400
const Sessions = Schema.Array(
  Schema.Struct({
    start: between(0, minutes),
    length: between(0, 120),
    open: Schema.Literals([false, false, false, false, true]),
    bytes: between(0, 1000)
  })
).pipe(Schema.check(Schema.isMaxLength(12)))

describe("uptime", () => {
  it.prop(
    "equals counting minute by minute",
    [Sessions, between(1, minutes), between(0, 50)],
    ([drawn, window, offset]) => {
      const origin = 1_700_000_000 - (1_700_000_000 % 60)
      const nowMinute = minutes + 1
      const now = origin + nowMinute * 60
      const rows = drawn.map(({ bytes, length, open, start }) => ({
        connected_at: origin + start * 60,
        disconnected_at: open ? null : origin + Math.min(start + length, nowMinute) * 60,
        bytes_in: bytes,
        bytes_out: BigInt(bytes) * 2n
      }))
      // The very first session may be older than what is still known.
      const oldest = Math.min(...drawn.map(({ start }) => start))
      const first = drawn.length === 0 ? null : Math.max(0, oldest - offset)

      const up = Array.from({ length: nowMinute }, () => false)
      for (const { length, open, start } of drawn)
        for (let m = start; m < (open ? nowMinute : Math.min(start + length, nowMinute)); m++) up[m] = true

      const from = Math.max(nowMinute - window, first ?? 0)
      const seen = up.slice(from).filter(Boolean).length
      const percent = uptime(rows, first === null ? null : origin + first * 60, window * 60, now)
      if (first === null) assert.isNull(percent)
      else assert.isTrue(percent !== null && Math.abs(percent - (seen * 100) / (nowMinute - from)) < 1e-9)

      let longest = 0
      let run = 0
      if (drawn.length > 0)
        for (let m = Math.max(oldest, nowMinute - window); m < nowMinute; m++) {
          // A session of no length ends one gap and starts the next.
          if (up[m] === true || drawn.some(({ start }) => start === m)) run = 0
          if (up[m] !== true) run++
          longest = Math.max(longest, run)
        }
      assert.strictEqual(longestOutage(rows, window * 60, now), longest * 60)

      const overlapping = drawn.filter(
        ({ length, open, start }) => open || Math.min(start + length, nowMinute) > nowMinute - window
      )
      const bytes = overlapping.reduce((sum, session) => sum + session.bytes, 0)
      assert.deepStrictEqual(totals(rows, window * 60, now), {
        sessions: overlapping.length,
        bytes_in: BigInt(bytes),
        bytes_out: BigInt(bytes) * 2n
      })
    },
    often
  )

  it("a new tunnel is not called down for the time before it existed", () => {
    const { d30, d7, h24 } = uptimeWindows
    assert.deepStrictEqual([h24, d7, d30], [86_400, 604_800, 2_592_000])
    const now = 1_700_000_000
    const sessions = [{ connected_at: now - 3600, disconnected_at: null }]
    assert.strictEqual(uptime(sessions, now - 3600, d7, now), 100)
    assert.strictEqual(uptime([], now - 2 * d7, d7, now), 0)
    assert.strictEqual(uptime([], now, d7, now), null)
    assert.strictEqual(uptime([], now - 1, d7, now), 0)
    assert.strictEqual(uptime([], null, d7, now), null)
  })

  it("trusts no clock but its own: what ends in the future is still open now", () => {
    const sessions = [{ connected_at: 0, disconnected_at: 5000 }]
    assert.strictEqual(uptime(sessions, 0, 100, 1000), 100)
    assert.strictEqual(longestOutage(sessions, 100, 1000), 0)
  })

  it("counts a session that ended at the start of the window no more", () => {
    const session = { connected_at: 0, disconnected_at: 100, bytes_in: 1, bytes_out: 1 }
    assert.strictEqual(totals([session], 100, 200).sessions, 0)
    assert.strictEqual(totals([session], 101, 200).sessions, 1)
    assert.strictEqual(longestOutage([], 100, 200), 0)
  })
})

const hours = 90
const Stretch = Schema.Struct({ start: between(0, hours), length: between(0, 30), open: Schema.Boolean })
const Stretches = Schema.Array(Stretch).pipe(Schema.check(Schema.isMaxLength(10)))

describe("what is reached, and by day", () => {
  it.prop(
    "equals counting hour by hour",
    [Stretches, Stretches, between(0, 23), between(0, 40)],
    ([drawn, silent, offset, older]) => {
      const hour = 3600
      const origin = 20_000 * 86_400 + offset * hour
      const now = origin + hours * hour
      const end = ({ length, open, start }: typeof Stretch.Type) => (open ? hours : Math.min(hours, start + length))
      const sessions = drawn.map((each) => ({
        connected_at: origin + each.start * hour,
        disconnected_at: each.open ? null : origin + end(each) * hour
      }))
      const silences = silent.map((each) => ({
        began_at: origin + each.start * hour,
        ended_at: origin + Math.min(hours, each.start + each.length) * hour
      }))
      const up = Array.from({ length: hours }, (_, h) => {
        const isOpen = drawn.some((each) => each.start <= h && h < end(each))
        return isOpen && !silent.some(({ length, start }) => start <= h && h < start + length)
      })
      const served = reached(sessions, silences, now)
      const covered = served.flatMap(({ connected_at, disconnected_at }) =>
        Array.from({ length: (disconnected_at - connected_at) / hour }, (_, n) => (connected_at - origin) / hour + n)
      )
      assert.deepStrictEqual(
        covered,
        up.flatMap((isUp, h) => (isUp ? [h] : []))
      )
      const first = drawn.length === 0 ? null : Math.min(...drawn.map(({ start }) => start)) - older
      const days = uptimeByDay(served, first === null ? null : origin + first * hour, now)
      assert.strictEqual(days.length, 30)
      for (const { share, start } of days) {
        const from = Math.max((start - origin) / hour, first ?? Infinity)
        const until = Math.min((start - origin) / hour + 24, hours)
        if (from >= until) {
          assert.isNull(share)
          continue
        }
        let seen = 0
        for (let h = Math.max(0, from); h < until; h++) if (up[h] === true) seen += 1
        assert.isTrue(share !== null && Math.abs(share - (seen * 100) / (until - from)) < 1e-9)
      }
    },
    often
  )
})
