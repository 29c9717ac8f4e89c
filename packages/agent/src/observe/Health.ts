/** Whether the agent is healthy: registered, and heard from the edge within the last 90 seconds. Pure. */
import { Result } from "effect"
import type { Session } from "./AgentMetrics.ts"

const silenceMillis = 90_000

/** Healthy, or the reason in plain text. `now` is Unix milliseconds. */
export const check = (session: Readonly<Session>, now: number): Result.Result<void, string> => {
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
