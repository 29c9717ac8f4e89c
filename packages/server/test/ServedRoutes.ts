/** The routes of a running server that are no part of the API value: those that browsers visit. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { App } from "../src/App.ts"

const declared = new Set(
  Object.values(ControlPlaneApi.groups).flatMap((group) =>
    Object.values(group.endpoints).map(({ method, path }) => `${method} ${path}`)
  )
)

export const servedRoutes = Effect.map(App, ({ routes }) =>
  routes.filter(([method, path]) => !declared.has(`${method} ${path}`))
)
