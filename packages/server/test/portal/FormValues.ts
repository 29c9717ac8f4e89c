/** Values below, at and beyond the limits of fields, by what they are. */
import type { FormRow } from "./FormTable.ts"

export const names = (longest: number) => ["", "  ", "x".repeat(longest + 1), "a\u0007b"]
export const emails = [
  "",
  "ada",
  "ada@",
  "@b.example",
  "a b@c.example",
  `${"a".repeat(245)}@b.example`,
  "a@b@c.example"
]
export const longestEmail = `${"a".repeat(244)}@b.example`
export const keys = ["", "ab", "g".repeat(64), "ab".repeat(33), "00".repeat(32)]
export const hex64 = ["", "ab", "g".repeat(64), "ab".repeat(33)]
export const numbers = (least: number, most: number) => [
  "",
  "x",
  "1.5",
  String(least - 1),
  String(most + 1),
  "9".repeat(20)
]
export const hex = (length: number) => ["", "ab", "g".repeat(length), "ab".repeat(length / 2 + 1)]

export const button: FormRow = { ways: [] }
export const toggle: FormRow = { ways: [], free: ["enabled"] }
