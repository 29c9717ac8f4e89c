/** The routes of a service in the file: each origin with the settings that it would have as the only one. */
import { secondsOf } from "@catenet/domain/rules/Amount"
import { type Route, takes } from "@catenet/domain/rules/Route"
import { ConfigurationInvalid, type Problem, problem } from "@catenet/platform/ConfigurationInvalid"
import { Effect, type FileSystem, Result } from "effect"
import { readOrigin } from "../settings/OriginAddress.ts"
import type { Origin, RouteSettings } from "../settings/Settings.ts"
import * as OriginConnections from "../tunnel/OriginConnections.ts"
import * as ServiceVariables from "./ServiceVariables.ts"

export interface Reading {
  readonly routes: ReadonlyArray<Route>
  /** Where an option of a route is in the file. */
  readonly at: (route: number, option: string) => string
  /** The folder of the file. */
  readonly base: string
  /** The settings with these variables; fails with problems of the variables. */
  readonly read: (
    variables: Readonly<Record<string, string>>
  ) => Effect.Effect<{ readonly origin: Origin }, ConfigurationInvalid, FileSystem.FileSystem>
}

export const originsOf = ({ to }: Route): ReadonlyArray<string> => (typeof to === "string" ? [to] : to)

const routeOf = Effect.fnUntraced(function* ({ at, base, read }: Reading, route: Route, number: number) {
  const { health, path, strip_prefix } = route
  const origins: Array<Origin> = []
  for (const text of originsOf(route)) {
    const place = readOrigin(text)
    if (typeof place === "string") return yield* ConfigurationInvalid.of(at(number, "to"), `is not ${place}`)
    // A route has only options of its own, none of the service.
    const { origin } = yield* read(ServiceVariables.ofOrigin(route, place, base)).pipe(
      Effect.tap((settings) => OriginConnections.check(settings.origin)),
      Effect.mapError(
        ({ problems }) =>
          new ConfigurationInvalid({
            problems: problems.map((each) => {
              const { option, said } = ServiceVariables.translated(each)
              return problem(at(number, option ?? "to"), said.problem, said.remedy)
            })
          })
      )
    )
    origins.push(origin)
  }
  const plan: RouteSettings = {
    path,
    stripPrefix: strip_prefix,
    origins,
    health: health && { path: health.path, everyMillis: secondsOf(health.every) * 1_000 }
  }
  return plan
})

/** Routes that get no request, because one before them takes all that they are for. */
const shadowed = ({ at, routes }: Reading): ReadonlyArray<Problem> =>
  routes.flatMap(({ path }, number) => {
    const first = routes.slice(0, number).find((before) => takes(before.path, path))
    return first === undefined
      ? []
      : [problem(at(number, "path"), `is never reached: the route ${first.path} is before it`, "put it first")]
  })

/** All routes, or all their problems. */
export const read = Effect.fnUntraced(function* (reading: Reading) {
  const found = yield* Effect.forEach(reading.routes, (route, number) => Effect.result(routeOf(reading, route, number)))
  const problems = [
    ...found.flatMap((one) => (Result.isFailure(one) ? one.failure.problems : [])),
    ...shadowed(reading)
  ]
  if (problems.length > 0) return yield* new ConfigurationInvalid({ problems })
  return found.flatMap((one) => (Result.isSuccess(one) ? [one.success] : []))
})
