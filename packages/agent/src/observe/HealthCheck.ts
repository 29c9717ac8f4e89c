/**
 * Whether the agent is healthy: a tunnel is registered and has heard from the edge within 90 seconds; a channel member has a
 * session or waits for its peer; a room member does so in every pair.
 */
import { Result } from "effect"
import type { ChannelCounts, Joining, Pair, Session } from "./AgentMetrics.ts"

const silenceMillis = 90_000

/** The known state of a channel member. */
export interface Membership {
  readonly joining: Joining
  readonly sessions: Iterable<ChannelCounts>
}

/** The member's state in one word. */
export const stateOf = ({ joining, sessions }: Membership): Joining["state"] | "in-session" =>
  Array.from(sessions).some(({ open }) => open > 0) ? "in-session" : joining.state

const checkMember = (membership: Membership): Result.Result<void, string> => {
  const state = stateOf(membership)
  if (state === "in-session" || state === "waiting") return Result.succeed(undefined)
  const { reason } = membership.joining
  return Result.fail(`${state === "joining" ? "not joined yet" : state}${reason === undefined ? "" : `: ${reason}`}`)
}

const isUp = ({ state }: Pair) => state === "in-session" || state === "waiting"

/** The reason is that of the first pair that is not up. */
const checkRoom = (pairs: ReadonlyArray<Pair>): Result.Result<void, string> => {
  const down = pairs.filter((pair) => !isUp(pair))
  const [first] = down
  if (first === undefined) return Result.succeed(undefined)
  const { name, reason, state } = first
  const why = `${state === "joining" ? "not joined yet" : state}${reason === undefined ? "" : `: ${reason}`}`
  return Result.fail(`${down.length} of ${pairs.length} pairs are not up; ${name} ${why}`)
}

/** Healthy, or the reason in plain text. `now` is Unix milliseconds. */
export const check = (
  session: Readonly<Session>,
  now: number,
  member?: Membership,
  pairs?: ReadonlyArray<Pair>
): Result.Result<void, string> => {
  if (pairs !== undefined) return checkRoom(pairs)
  if (member !== undefined) return checkMember(member)
  if (session.live === 0) {
    const error = session.lastError === undefined ? "" : `; last error: ${session.lastError}`
    return Result.fail(`not registered${error}`)
  }
  if (session.lastSeen === undefined) return Result.fail("nothing heard from the edge yet")
  const silence = now - session.lastSeen
  return silence < silenceMillis
    ? Result.succeed(undefined)
    : Result.fail(`nothing heard in ${Math.floor(silence / 1000)} seconds`)
}
