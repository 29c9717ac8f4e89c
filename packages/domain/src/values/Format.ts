/** How figures are written for a person: percent, durations, ages, bytes and times, the same on every page. */
import { DateTime, Option } from "effect"

const clean = (percent: number) => Math.round(Math.min(100, Math.max(0, percent)) * 10) / 10

/**
 * A share in percent with at most one decimal; `n/a` without data. Values outside 0..100 are clamped.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { percentText } from "@catenet/domain/values/Format"
 *
 * assert.deepEqual([99, 98.44, 250, null, NaN].map(percentText), ["99 %", "98.4 %", "100 %", "n/a", "n/a"])
 * ```
 */
export const percentText = (percent: number | null): string =>
  percent === null || Number.isNaN(percent) ? "n/a" : `${clean(percent)} %`

const units = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1]
] as const

/**
 * A duration in its two largest units; below a minute in seconds alone.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { durationText } from "@catenet/domain/values/Format"
 *
 * assert.deepEqual([572_400, 7200, 61, 59, 0].map(durationText), ["6 d 15 h", "2 h 0 m", "1 m 1 s", "59 s", "0 s"])
 * ```
 */
export const durationText = (seconds: number): string => {
  const whole = Math.max(0, Math.floor(seconds))
  const largest = units.findIndex(([, size]) => whole >= size)
  const shown = largest === -1 ? units.slice(-1) : units.slice(largest, largest + 2)
  let rest = whole
  return shown
    .map(([unit, size]) => {
      const count = Math.floor(rest / size)
      rest -= count * size
      return `${count} ${unit}`
    })
    .join(" ")
}

/**
 * How long ago something was seen, in its largest unit; `just now` below a minute.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { ageText } from "@catenet/domain/values/Format"
 *
 * assert.deepEqual([59, 60, 7199, 200_000].map(ageText), ["just now", "1 m", "1 h", "2 d"])
 * ```
 */
export const ageText = (seconds: number): string => {
  const unit = units.slice(0, -1).find(([, size]) => seconds >= size)
  return unit === undefined ? "just now" : `${Math.floor(seconds / unit[1])} ${unit[0]}`
}

const sizes = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

/**
 * A number of bytes in steps of 1024, with one decimal from the first step on.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { bytesText } from "@catenet/domain/values/Format"
 *
 * assert.deepEqual([0, 1023, 1536, 2n ** 64n - 1n].map(bytesText), ["0 B", "1023 B", "1.5 KiB", "16.0 EiB"])
 * ```
 */
export const bytesText = (bytes: number | bigint): string => {
  let value = Number(bytes)
  if (value < 1024) return `${value} B`
  let step = 0
  // What would be rounded up to 1024.0 is written in the next unit.
  while (value >= 1023.95 && step < sizes.length - 1) {
    value /= 1024
    step++
  }
  return `${value.toFixed(1)} ${sizes[step]}`
}

/**
 * A moment as `YYYY-MM-DD HH:MM` in UTC; `n/a` when it is outside the calendar.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { timeText } from "@catenet/domain/values/Format"
 *
 * assert.equal(timeText(1_767_600_000), "2026-01-05 08:00")
 * ```
 */
export const timeText = (unixSeconds: number): string =>
  Option.match(DateTime.make(unixSeconds * 1000), {
    onNone: () => "n/a",
    onSome: (moment) => DateTime.formatIso(moment).slice(0, 16).replace("T", " ")
  })

const ordinals = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]

/**
 * A place in a row, in English.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { ordinal } from "@catenet/domain/values/Format"
 *
 * assert.deepEqual([3, 11].map(ordinal), ["third", "number 11"])
 * ```
 */
export const ordinal = (place: number): string => ordinals[place - 1] ?? `number ${place}`
