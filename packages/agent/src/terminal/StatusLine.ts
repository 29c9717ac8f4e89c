/** The live line of a serving agent on a terminal. `describe` is pure; `run` redraws it every second and leaves no trace. */
import { Effect, Schedule } from "effect"
import { type Requests, type Session, type Traffic, AgentMetrics } from "../observe/AgentMetrics.ts"
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

export interface Shown {
  readonly session: Pick<Session, "live" | "conn">
  readonly traffic: Pick<Traffic, "bytesToOrigin" | "bytesToClient">
  readonly requests: Requests
  readonly open: number
  /** No more streams are accepted. */
  readonly isStopping: boolean
}

const stateOf = ({ isStopping, session }: Shown) => {
  if (isStopping) return "stopping"
  if (session.live > 0) return "online"
  return session.conn === undefined ? "starting" : "offline, reconnecting"
}

const carried = ({ requests: { count }, traffic }: Shown) =>
  `${count === undefined ? "" : `${count} ${count === 1 ? "request" : "requests"} | `}` +
  `${bytes(traffic.bytesToOrigin)} in, ${bytes(traffic.bytesToClient)} out`

/** Important values come first: a narrow terminal cuts off the address, which was printed before. */
export const describe = (what: string, shown: Shown): string =>
  `ct-agent ${stateOf(shown)} | ${carried(shown)} | ${shown.open} open | ${what}`

/** The final line: what was served, and that serving has stopped. */
export const farewell = (what: string, shown: Shown): string => `ct-agent stopped | ${carried(shown)} | ${what}`

/** Runs until interrupted, and then while the agent drains; the final line is accurate. */
export const run = Effect.fn("StatusLine.run")(function* (what: string) {
  const screen = yield* Screen
  if (!screen.live) return yield* Effect.never
  const metrics = yield* AgentMetrics
  const shown = (): Shown => ({
    session: metrics.session,
    traffic: metrics.total(),
    requests: metrics.requests,
    open: metrics.tasksLive(),
    isStopping: metrics.draining.is
  })
  return yield* Effect.sync(() => screen.status(describe(what, shown()))).pipe(
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.andThen(Effect.never),
    Effect.ensuring(
      Effect.sync(() => {
        screen.status("")
        screen.log(farewell(what, shown()))
      })
    )
  )
})
