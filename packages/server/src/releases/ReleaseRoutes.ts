/**
 * `/agent.tgz`, `/install.sh` and `/releases`: the agent for machines that have none, or an older one; and the schema of its file of
 * services. Open to all.
 */
import { jsonSchema, schemaPath } from "@catenet/domain/tunnels/ServicesFile"
import { RangeNotSatisfiable, RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Files } from "@catenet/platform/Files"
import { Effect, Option, Record } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { Settings } from "../settings/Settings.ts"
import * as ByteRange from "./ByteRange.ts"
import * as InstallScript from "./InstallScript.ts"
import { packageName, Releases } from "./Releases.ts"

/**
 * A file as a response: with a tag that changes with the file, for caches; by parts, for downloads that were cut; and from the
 * disk piece by piece, as fast as the client reads.
 */
const types = new Map([
  ["tgz", "application/gzip"],
  ["gz", "application/gzip"],
  ["tar", "application/x-tar"],
  ["deb", "application/vnd.debian.binary-package"],
  ["json", "application/json"],
  ["sha256", "text/plain; charset=utf-8"],
  ["sig", "text/plain; charset=utf-8"]
])

/** By the end of the name: no browser is to run what it gets. */
const typeOf = (name: string): string =>
  types.get(/\.([a-z0-9]+)$/u.exec(name)?.[1] ?? "") ?? "application/octet-stream"

/** A link that took the place of the file is not followed. */
const opened = (path: string) =>
  Effect.acquireRelease(
    Effect.tryPromise(() => Files.open(path, Files.constants.O_RDONLY | Files.constants.O_NOFOLLOW)),
    (file) => Effect.promise(() => file.close())
  )

const names = (header: string | undefined, tag: string) =>
  header !== undefined && header.split(",").some((each) => ["*", tag, `W/${tag}`].includes(each.trim()))

/** The answer to a request for the file. It fails where the file is not there or no longer. */
const fileResponse = Effect.fn("ReleaseRoutes.fileResponse")(function* (path: string, contentType: string) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const file = yield* opened(path)
  const { mtimeNs, size: bytes } = yield* Effect.tryPromise(() => file.stat({ bigint: true }))
  const size = Number(bytes)
  const etag = `"${bytes.toString(36)}-${mtimeNs.toString(36)}"`
  // Whether the copy that a cache has is still the file is asked each time: a release must come whole.
  const headers = { etag, "accept-ranges": "bytes", "cache-control": "public, no-cache" }
  if (names(request.headers["if-none-match"], etag)) return HttpServerResponse.empty({ status: 304, headers })

  const condition = request.headers["if-range"]
  const isWhole = request.method !== "GET" || (condition !== undefined && condition.trim() !== etag)
  const range = isWhole ? "whole" : ByteRange.parse(request.headers["range"], size)
  if (range === "unsatisfiable")
    return HttpServerResponse.setHeader(
      yield* HttpServerRespondable.toResponse(new RangeNotSatisfiable({ size })),
      "content-range",
      `bytes */${size}`
    )
  const { first, last } = range === "whole" ? { first: 0, last: size - 1 } : range
  const length = last - first + 1
  const part = range === "whole" ? {} : { "content-range": `bytes ${first}-${last}/${size}` }
  const options = { status: range === "whole" ? 200 : 206, contentType, contentLength: length }
  const body =
    request.method === "HEAD" || length === 0
      ? new Uint8Array(0)
      : file.createReadStream({ start: first, end: last, autoClose: false, highWaterMark: 262_144 })
  return HttpServerResponse.raw(body, { ...options, headers: { ...headers, ...part } })
})

const packagePath = `/${packageName}` as const

const notThere = HttpServerRespondable.toResponse(new RouteNotFound())

/** A file that went between the listing and the request is not there either. */
const answer = (path: string | undefined, name: string) =>
  path === undefined ? notThere : Effect.catchTag(fileResponse(path, typeOf(name)), "UnknownError", () => notThere)

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
    const schema = HttpServerResponse.jsonUnsafe(jsonSchema(), {
      contentType: "application/schema+json",
      headers: { "cache-control": "public, no-cache", "access-control-allow-origin": "*" }
    })
    yield* router.add("GET", schemaPath, Effect.succeed(schema))
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
