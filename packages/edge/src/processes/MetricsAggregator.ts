/** Adds what a worker reports to the figures of the main process, so that they are the figures of the edge. */
import { Effect } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import type { ConnectionLimiter } from "../listen/ConnectionLimiter.ts"
import * as Counters from "../observe/Counters.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import type { WorkerReport } from "./WorkerMessages.ts"
import { WorkerStats } from "./WorkerStats.ts"

export const make = Effect.fnUntraced(function* (limiter: ConnectionLimiter) {
  const counters = yield* Counters.Counters
  const agents = yield* AgentSessions
  const audit = yield* AuditLog
  const workerStats = yield* WorkerStats
  return (worker: number, report: WorkerReport): void => {
    Counters.add(counters, report.counted)
    for (const [token, fromVisitors, toVisitors, visits] of report.traffic) {
      const tunnel = agents.ensure(token)
      tunnel.traffic.aToB += fromVisitors
      tunnel.traffic.bToA += toVisitors
      tunnel.visits += visits
    }
    for (const [listener, reason, count] of report.sheds) limiter.shed(listener, reason, count)
    audit.write(report.audit)
    workerStats.note(worker, report)
  }
})
