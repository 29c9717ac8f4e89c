/** `/agent.tgz`, `/install.sh` and `/releases`: the agent for machines that have none, or an older one. Open to all. */
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Option, Record } from "effect"
import { HttpRouter, HttpServerRespondable, HttpServerResponse } from "effect/http"
import type { ExtraRoutes } from "../http/AllowedMethods.ts"
import { Settings } from "../settings/Settings.ts"
import * as FileResponse from "./FileResponse.ts"
import * as InstallScript from "./InstallScript.ts"
import { packageName, Releases } from "./Releases.ts"

const packagePath = `/${packageName}` as const

export const addresses: ExtraRoutes = [
  ["GET", packagePath],
  ["GET", "/install.sh"],
  ["GET", "/releases/:version/:file"]
]

const notThere = HttpServerRespondable.toResponse(new RouteNotFound())

/** A file that went between the listing and the request is not there either. */
const answer = (path: string | undefined, name: string) =>
  path === undefined
    ? notThere
    : Effect.catchTag(FileResponse.of(path, FileResponse.typeOf(name)), "UnknownError", () => notThere)

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { agentsUrl, portalBaseUrl, releaseKeys = [], releasesFolder } = yield* Settings
    const releases = yield* Releases
    yield* router.add(
      "GET",
      packagePath,
      Effect.flatMap(releases.package, (path) => answer(path, packageName))
    )
    const script = HttpServerResponse.text(
      InstallScript.render({ origin: (agentsUrl ?? portalBaseUrl).origin, keys: releaseKeys }),
      { contentType: "text/plain; charset=utf-8", headers: { "cache-control": "public, no-cache" } }
    )
    yield* router.add("GET", "/install.sh", releasesFolder === undefined ? notThere : Effect.succeed(script))
    yield* router.add(
      "GET",
      "/releases/:version/:file",
      Effect.flatMap(HttpRouter.params, (params) => {
        const [version, file] = ["version", "file"].map((name) => Option.getOrElse(Record.get(params, name), () => ""))
        return Effect.flatMap(releases.file(version ?? "", file ?? ""), (path) => answer(path, file ?? ""))
      })
    )
  })
)
