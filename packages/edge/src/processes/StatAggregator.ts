/** Adds what a worker reports to the figures of the main process, so that they are the figures of the edge. */
import { Effect } from "effect"
import type { Gate } from "../listen/ConnectionLimiter.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import * as Counters from "../observe/Counters.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { Census } from "./WorkerStats.ts"
import type { Report } from "./Message.ts"

export const make = Effect.fnUntraced(function* (gate: Gate) {
  const counters = yield* Counters.Counters
  const agents = yield* AgentSessions
  const audit = yield* AuditLog
  const census = yield* Census
  return (worker: number, report: Report): void => {
    Counters.add(counters, report.counted)
    for (const [token, fromVisitors, toVisitors] of report.traffic) {
      const { traffic } = agents.ensure(token)
      traffic.aToB += fromVisitors
      traffic.bToA += toVisitors
    }
    for (const [listener, reason, count] of report.sheds) gate.shed(listener, reason, count)
    audit.write(report.audit)
    census.note(worker, report)
  }
})
