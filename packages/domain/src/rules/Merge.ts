/**
 * One list of rules of two: those of the control plane and those of the agent's file. The stricter holds: whatever either list
 * refuses is refused.
 */
import { type AddressRange, intersection } from "./AddressRange.ts"
import { bytesOf } from "./Amount.ts"
import type { Rule, Rules } from "./Rules.ts"

const named = (rule: Rule) => JSON.stringify(rule)

/** The first rule of its kind stands for all of them. */
const joined = (rules: Rules): Rules => {
  let allow: ReadonlyArray<AddressRange> | undefined
  let most: Rule["max_body"]
  for (const rule of rules) {
    if (rule.allow !== undefined) allow = intersection(allow ?? rule.allow, rule.allow)
    if (rule.max_body !== undefined && (most === undefined || bytesOf(rule.max_body) < bytesOf(most)))
      most = rule.max_body
  }
  const seen = new Set<string>()
  return rules.flatMap((rule) => {
    const one = rule.allow !== undefined && allow !== undefined ? { allow } : rule
    const own = rule.max_body !== undefined && most !== undefined ? { max_body: most } : one
    const name = named(own)
    if (seen.has(name)) return []
    seen.add(name)
    return [own]
  })
}

/**
 * Address ranges intersect, the smaller body holds, a login that either demands is demanded, and both rate limits count. Rules of
 * `first` come first; one that both have is one rule.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Schema } from "effect"
 * import { merge } from "@catenet/domain/rules/Merge"
 * import { Rules } from "@catenet/domain/rules/Rules"
 *
 * const rules = Schema.decodeUnknownSync(Rules)
 * const both = merge(rules([{ max_body: "2 MiB" }]), rules([{ max_body: "1 MiB" }, { require_login: true }]))
 * deepStrictEqual(both, [{ max_body: "1 MiB" }, { require_login: true }])
 * ```
 */
export const merge = (first: Rules, second: Rules): Rules => joined([...first, ...second])
