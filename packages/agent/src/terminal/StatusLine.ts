/** The live line of a serving agent on a terminal. `describe` is pure; `run` redraws it every second and leaves no trace. */
import { Effect, Schedule } from "effect"
import { type Session, type Traffic, AgentMetrics } from "../observe/AgentMetrics.ts"
import { Screen } from "./Screen.ts"

const units = ["B", "kB", "MB", "GB", "TB"] as const

/** Bytes in a form of at most four digits: `999 B`, `1.2 MB`. */
export const bytes = (count: number): string => {
  let value = count
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? "B"}`
}

const describe = (what: string, session: Session, traffic: Traffic, open: number): string => {
  const state = session.live > 0 ? "online" : session.conn === undefined ? "starting" : "offline, reconnecting"
  return `ct-agent ${state} | ${what} | ${open} open | ${bytes(traffic.bytesToOrigin)} in, ${bytes(traffic.bytesToClient)} out`
}

/** Runs until interrupted. */
export const run = Effect.fn("StatusLine.run")(function* (what: string) {
  const screen = yield* Screen
  if (!screen.live) return yield* Effect.never
  const metrics = yield* AgentMetrics
  return yield* Effect.sync(() =>
    screen.status(describe(what, metrics.session, metrics.total(), metrics.tasksLive()))
  ).pipe(
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.andThen(Effect.never),
    Effect.ensuring(Effect.sync(() => screen.status("")))
  )
})
