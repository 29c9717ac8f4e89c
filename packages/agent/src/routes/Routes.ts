/**
 * A service with routes: its requests go by their paths to origins, which are judged by the requests that they get and, where the
 * route has a health check, by that. For the rest of the agent it is one origin.
 */
import { takes } from "@catenet/domain/rules/Route"
import { Clock, Effect, Schedule } from "effect"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { Origin as Settings, RouteSettings } from "../settings/Settings.ts"
import * as OriginConnections from "../tunnel/OriginConnections.ts"
import { probe } from "../tunnel/OriginProbe.ts"
import { OriginPool, PoolMember } from "./OriginPool.ts"
import { RoutedConnection } from "./RoutedConnection.ts"

/** Origins that are asked at the same time. */
const asksAtOnce = 16

interface Route extends RouteSettings {
  readonly pool: OriginPool
}

/** Asks an origin, and says so where it changes what visitors get. */
const judge = Effect.fnUntraced(function* (member: PoolMember, host: string, path: string | undefined) {
  const now = yield* Clock.currentTimeMillis
  const wasOut = member.outFor(now) > 0
  const found = yield* probe(member.origin, host, path)
  if (path !== undefined) member.checked(found.verdict === "up")
  else if (found.verdict === "up") member.succeeded()
  if (path !== undefined && wasOut !== member.outFor(now) > 0)
    yield* Effect.logInfo(
      wasOut
        ? `origin ${member.origin.name} takes requests again`
        : `origin ${member.origin.name} takes no requests: its health check found ${found.status ?? found.verdict}`
    )
  return found
})

/**
 * What an echo through this service finds: `up` where every route has an origin that takes requests, otherwise what is wrong with one
 * that has none.
 */
const look = (routes: ReadonlyArray<Route>, host: string) =>
  Effect.gen(function* () {
    const unchecked = routes.filter(({ health }) => health === undefined).flatMap(({ pool }) => pool.members)
    const asked = yield* Effect.forEach(
      unchecked,
      (member) => Effect.map(judge(member, host, undefined), (found) => [member, found] as const),
      { concurrency: asksAtOnce }
    )
    const found = new Map(asked)
    const now = yield* Clock.currentTimeMillis
    for (const { health, pool } of routes) {
      const down = pool.members.map((member) => found.get(member)).find((one) => one?.verdict !== "up")
      const isUp =
        health === undefined ? pool.members.some((one) => found.get(one)?.verdict === "up") : pool.outFor(now) === 0
      if (!isUp) return { ...(down ?? { verdict: "closed" as const }), origin: pool.members[0]?.origin.name ?? "" }
    }
    return { verdict: "up" as const }
  })

/** Opens the origins of the routes, for as long as the scope is open. `own` is the first of them, `host` the public name. */
export const open = Effect.fn("Routes.open")(function* (
  settings: ReadonlyArray<RouteSettings>,
  own: Settings,
  host: string
) {
  const { fault } = yield* AgentMetrics
  const clock = yield* Clock.Clock
  const routes: Array<Route> = []
  for (const route of settings) {
    const origins = yield* Effect.forEach(route.origins, (origin) => OriginConnections.open(origin))
    routes.push({ ...route, pool: new OriginPool(origins.map((origin) => new PoolMember(origin))) })
  }
  for (const { health, pool } of routes)
    if (health !== undefined)
      yield* Effect.forEach(pool.members, (member) =>
        Effect.forkScoped(
          Effect.repeat(judge(member, host, health.path), Schedule.jittered(Schedule.spaced(health.everyMillis)))
        )
      )
  const all = routes.flatMap(({ pool }) => pool.members)
  const [first] = all
  const name = `${first?.origin.name ?? ""}${all.length > 1 ? `+${all.length - 1}` : ""}`
  const connect = (opening?: Uint8Array) =>
    Effect.sync(() => {
      const connection = new RoutedConnection({
        routeOf: (path) => routes.find((route) => takes(route.path, path)),
        dial: (member) => Effect.runPromise(member.origin.connect(opening)),
        now: () => clock.currentTimeMillisUnsafe(),
        onFault: fault
      })
      connection.on("error", () => undefined)
      return connection
    })
  const opened: OriginConnections.OpenOrigin = {
    ...own,
    name,
    connect,
    // Settings of a service with routes have the agent end its visitors' TLS.
    pass: connect,
    look: look(routes, host)
  }
  return opened
})
