/** What a process says of one pair of a room: the metrics of the agent, of which joins and sessions are this pair's. */
import type { AgentMetrics, Pair } from "./AgentMetrics.ts"

/** A pair that has not joined yet. */
export const pairOf = (
  facts: Pick<Pair, "channel" | "name" | "peer">,
  { now }: Pick<AgentMetrics["Service"], "now">
): Pair => ({ ...facts, state: "joining", reason: undefined, carrier: undefined, sessions: 0, since: now() })

const enter = (pair: Pair, now: number, state: Pair["state"], reason: string | undefined) => {
  if (pair.state !== state) pair.since = now
  pair.state = state
  pair.reason = reason
}

/** The same metrics for this pair, which is changed. */
export const of = (metrics: AgentMetrics["Service"], pair: Pair): AgentMetrics["Service"] => ({
  ...metrics,
  joining: (state, reason) => enter(pair, metrics.now(), state, reason),
  channelOpened: (carrier) => {
    const ended = metrics.channelOpened(carrier)
    pair.sessions++
    pair.carrier = carrier
    enter(pair, metrics.now(), "in-session", undefined)
    return () => {
      ended()
      pair.carrier = undefined
      enter(pair, metrics.now(), "joining", undefined)
    }
  }
})
