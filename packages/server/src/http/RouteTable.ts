/** The routes that were added to the router. The methods of an address distinguish 405 from 404. */
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"

export type RouteTable = ReadonlyArray<readonly [method: string, path: string]>

/** Gives layers a router that notes the routes they add; one that ends in `/*` answers for what is not there, and is left out. */
export const noting = (table: Array<readonly [method: string, path: string]>) => {
  const note = (method: string, path: string) => {
    if (!path.endsWith("/*")) table.push([method, path])
  }
  return Layer.effect(
    HttpRouter.HttpRouter,
    Effect.map(HttpRouter.HttpRouter, (router) =>
      HttpRouter.HttpRouter.of({
        ...router,
        add: (method, path, handler, options) => {
          note(method, path)
          return router.add(method, path, handler, options)
        },
        addAll: (routes) => {
          for (const { method, path } of routes) note(method, path)
          return router.addAll(routes)
        }
      })
    )
  )
}

const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/[.+*?^${}()|[\]\\]/g, "\\$&").replace(/:[A-Za-z_]+/g, "[^/]+")}/?$`)

/** The methods of an address, in alphabetical order; none where there is nothing. `GET` brings `HEAD` with it, and any brings `OPTIONS`. */
export const methodsOf = (table: RouteTable): ((url: string) => ReadonlyArray<string>) => {
  const routes = table.map(([method, path]) => ({ method, pattern: patternOf(path) }))
  return (url) => {
    const path = url.replace(/[?#].*$/s, "")
    const methods = new Set<string>()
    for (const { method, pattern } of routes) {
      if (!pattern.test(path)) continue
      methods.add(method)
      if (method === "GET") methods.add("HEAD")
    }
    return methods.size === 0 ? [] : [...methods, "OPTIONS"].sort()
  }
}
