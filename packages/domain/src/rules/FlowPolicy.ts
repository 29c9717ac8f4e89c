/**
 * Which agents of a declared network may exchange messages. A flow needs a rule; with flow control it also must not run from a
 * higher level to a lower one. A channel carries both directions, so it needs both flows.
 */

/** An agent as declared. */
export interface Declared {
  readonly id: string
  readonly group: string | null
  readonly label: string | null
}

/** What a rule asks of an agent; null asks nothing. */
export interface Selector {
  readonly group: string | null
  readonly label: string | null
}

/** `levels` from the lowest to the highest. */
export interface FlowPolicy {
  readonly levels: ReadonlyArray<string>
  readonly rules: ReadonlyArray<{ readonly from: Selector; readonly to: Selector }>
  readonly flowControl: boolean
}

export type FlowDecision = "allowed" | "default-deny" | "write-down" | "unknown-level"

const matches = ({ group, label }: Selector, agent: Declared) =>
  (group === null || group === agent.group) && (label === null || label === agent.label)

/**
 * Whether messages may flow from one agent to another.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { decide } from "@catenet/domain/rules/FlowPolicy"
 *
 * const any = { group: null, label: null }
 * const policy = { levels: ["low", "high"], rules: [{ from: any, to: any }], flowControl: true }
 * const [low, high] = ["low", "high"].map((label) => ({ id: label, group: null, label }))
 * assert.equal(decide(policy, low!, high!), "allowed")
 * assert.equal(decide(policy, high!, low!), "write-down")
 * ```
 */
export const decide = (policy: FlowPolicy, from: Declared, to: Declared): FlowDecision => {
  if (policy.flowControl) {
    const rank = ({ label }: Declared) => policy.levels.findIndex((level) => level === label)
    if (rank(from) < 0 || rank(to) < 0) return "unknown-level"
    if (rank(from) > rank(to)) return "write-down"
  }
  return policy.rules.some((rule) => matches(rule.from, from) && matches(rule.to, to)) ? "allowed" : "default-deny"
}

/**
 * The pairs that may have a channel, in the order of the agents.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { desiredChannels } from "@catenet/domain/rules/FlowPolicy"
 *
 * const team = { group: "team", label: null }
 * const policy = { levels: [], rules: [{ from: team, to: team }], flowControl: false }
 * const agents = [{ id: "a", ...team }, { id: "b", ...team }, { id: "c", group: "guest", label: null }]
 * assert.deepEqual(desiredChannels(policy, agents), [["a", "b"]])
 * ```
 */
export const desiredChannels = (
  policy: FlowPolicy,
  agents: ReadonlyArray<Declared>
): ReadonlyArray<readonly [string, string]> => {
  const flows = (x: Declared, y: Declared) => decide(policy, x, y) === "allowed"
  return agents.flatMap((x, i) =>
    agents
      .slice(i + 1)
      .flatMap((y): ReadonlyArray<readonly [string, string]> => (flows(x, y) && flows(y, x) ? [[x.id, y.id]] : []))
  )
}
