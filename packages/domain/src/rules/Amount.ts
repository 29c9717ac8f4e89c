/** Amounts as people write them in rules: `100/1m`, `10s`, `100 MiB`. */
import { Schema } from "effect"
import { pattern } from "../values/Pattern.ts"

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
