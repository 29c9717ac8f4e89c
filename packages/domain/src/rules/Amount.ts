/** Amounts as people write them in rules: `100/1m`, `10s`, `100 MiB`. */
import { Schema } from "effect"
import { pattern } from "../values/Pattern.ts"

const seconds = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3600]
])
const bytes = new Map([
  ["KiB", 1024],
  ["MiB", 1024 ** 2],
  ["GiB", 1024 ** 3]
])

/** So many in a period; in a period that has not been used so many may come at once. */
export const Rate = Schema.String.check(
  pattern(/^[1-9][0-9]{0,8}\/(?:[1-9][0-9]{0,3})?[smh]$/u, "a rate such as 100/1m, 10/s or 5000/24h")
)
export type Rate = typeof Rate.Type

export const Period = Schema.String.check(pattern(/^[1-9][0-9]{0,3}[smh]$/u, "a period such as 10s, 5m or 1h"))
export type Period = typeof Period.Type

export const ByteSize = Schema.String.check(
  pattern(/^[1-9][0-9]{0,5} ?(?:B|KiB|MiB|GiB)$/u, "a size with its unit, such as 100 MiB")
)
export type ByteSize = typeof ByteSize.Type

/**
 * @example
 * ```ts
 * import { secondsOf } from "@catenet/domain/rules/Amount"
 *
 * if (secondsOf("10s") !== 10 || secondsOf("m") !== 60) throw new Error("without a number it is one")
 * ```
 */
export const secondsOf = (period: string): number => {
  const unit = period.slice(-1)
  return (period.length === 1 ? 1 : Number(period.slice(0, -1))) * (seconds.get(unit) ?? 1)
}

/**
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { quotaOf } from "@catenet/domain/rules/Amount"
 *
 * deepStrictEqual(quotaOf("100/5m"), { count: 100, seconds: 300 })
 * ```
 */
export const quotaOf = (rate: Rate): { readonly count: number; readonly seconds: number } => {
  const [count, period = "s"] = rate.split("/")
  return { count: Number(count), seconds: secondsOf(period) }
}

/**
 * @example
 * ```ts
 * import { bytesOf } from "@catenet/domain/rules/Amount"
 *
 * if (bytesOf("100 MiB") !== 104_857_600) throw new Error("units are powers of 1024")
 * ```
 */
export const bytesOf = (size: ByteSize): number => {
  const [, count, unit = "B"] = /^([0-9]+) ?([A-Za-z]+)$/u.exec(size) ?? []
  return Number(count) * (bytes.get(unit) ?? 1)
}
