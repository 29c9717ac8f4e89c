import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { decide, desiredChannels } from "@catenet/domain/rules/FlowPolicy"
import { often } from "./history.ts"

const Group = Schema.NullOr(Schema.Literals(["dev", "ops"]))
const Label = Schema.NullOr(Schema.Literals(["low", "mid", "high", "odd"]))
const Selector = Schema.Struct({ group: Group, label: Label })
const rank: Record<string, number> = { low: 1, mid: 2, high: 3 }

describe("flow policies", () => {
  it.prop(
    "a flow needs known levels that do not fall, and a rule",
    [Schema.Array(Schema.Struct({ from: Selector, to: Selector })), Selector, Selector, Schema.Boolean],
    ([rules, x, y, flowControl]) => {
      const policy = { levels: ["low", "mid", "high"], rules, flowControl }
      const [a, b] = [
        { id: "x", ...x },
        { id: "y", ...y }
      ]
      const [from, to] = [rank[x.label ?? ""], rank[y.label ?? ""]]
      const ruled = rules.some(
        (rule) =>
          [
            rule.from.group ?? x.group,
            rule.from.label ?? x.label,
            rule.to.group ?? y.group,
            rule.to.label ?? y.label
          ].join() === [x.group, x.label, y.group, y.label].join()
      )
      const expected =
        flowControl && (from === undefined || to === undefined)
          ? "unknown-level"
          : flowControl && (from ?? 0) > (to ?? 0)
            ? "write-down"
            : ruled
              ? "allowed"
              : "default-deny"
      assert.strictEqual(decide(policy, a, b), expected)
      const both = decide(policy, a, b) === "allowed" && decide(policy, b, a) === "allowed"
      assert.deepStrictEqual(desiredChannels(policy, [a, b]), both ? [["x", "y"]] : [])
    },
    often
  )
})
