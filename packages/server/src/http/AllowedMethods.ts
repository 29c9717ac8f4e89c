/** Which methods an address answers: what tells 405 from 404. Derived from the API value. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"

/** Addresses beside the API: method and path. */
export type ExtraRoutes = ReadonlyArray<readonly [method: string, path: string]>

const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/[.+*?^${}()|[\]\\]/g, "\\$&").replace(/:[A-Za-z_]+/g, "[^/]+")}/?$`)

/** The methods of an address, in alphabetical order; none where there is nothing. `GET` brings `HEAD` with it, and any brings `OPTIONS`. */
export const methodsOf = (extra: ExtraRoutes): ((url: string) => ReadonlyArray<string>) => {
  const declared = Object.values(ControlPlaneApi.groups).flatMap((group) =>
    Object.values(group.endpoints).map(({ method, path }): readonly [string, string] => [method, path])
  )
  const routes = [...declared, ...extra].map(([method, path]) => ({ method, pattern: patternOf(path) }))
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
