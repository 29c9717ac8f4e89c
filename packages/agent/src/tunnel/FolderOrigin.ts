/**
 * A folder as an origin: files with ranges and validators, and `index.html` for folders. What is hidden, outside of the folder or
 * no ordinary file is not there, whatever links lead to it; `.well-known` is not hidden.
 */
import { Http, type HttpServer } from "@catenet/platform/Http"
import { markup, type Markup } from "@catenet/platform/Markup"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, FileSystem, Option, Result } from "effect"
import { HttpPlatform, HttpServerRequest, HttpServerResponse, HttpStaticServer } from "effect/http"
import { isAbsolute, join, parse, relative, resolve, sep } from "node:path"

const said = (status: number, text: string, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.text(`${text}\n`, { status, headers })
const notFound = said(404, "Not found")

const isHidden = (segments: ReadonlyArray<string>) =>
  segments.some((segment, at) => segment.startsWith(".") && !(at === 0 && segment === ".well-known"))

/** Characters that a name cannot have, or that lead elsewhere. */
const foreign = sep === "\\" ? /[/\\:\0]/u : /[/\0]/u

/** The names in a path; undefined where one is no name of a file that is shown. */
const namesIn = (pathname: string): ReadonlyArray<string> | undefined => {
  const names = Result.try(() =>
    pathname
      .split("/")
      .filter((each) => each !== "")
      .map(decodeURIComponent)
  )
  if (Result.isFailure(names) || isHidden(names.success)) return undefined
  return names.success.some((name) => foreign.test(name)) ? undefined : names.success
}

const pageOf = (pathname: string, entries: ReadonlyArray<Markup>) =>
  markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>${pathname}</title></head>
<body><h1>${pathname}</h1><ul>${entries}</ul></body></html>
`.text

const link = (name: string) =>
  markup`<li><a href="./${name.split("/").map(encodeURIComponent).join("/")}">${name}</a></li>\n`

/** Sends no more of a file than its length when it is opened: the rest of one that grows would be taken for the next response. */
const bounded = (platform: HttpPlatform.HttpPlatform["Service"]): HttpPlatform.HttpPlatform["Service"] => ({
  ...platform,
  fileResponse: (path, options) =>
    options?.bytesToRead === undefined
      ? platform.fileResponse(path, { ...options, bytesToRead: Number.MAX_SAFE_INTEGER })
      : platform.fileResponse(path, options)
})

/** Answers requests for what is in the folder. A link to another folder takes effect with the next request. */
const answers = Effect.fnUntraced(function* (folder: string, isListed: boolean) {
  const fs = yield* FileSystem.FileSystem
  const top = parse(folder).root
  const platform = bounded(yield* HttpPlatform.HttpPlatform)
  const making = HttpStaticServer.make({ root: top, index: undefined })
  const files = yield* Effect.provideService(making, HttpPlatform.HttpPlatform, platform)

  /** What is really at a place, if it may be shown. */
  const shown = Effect.fnUntraced(function* (root: string, place: string) {
    const path = yield* fs.realPath(place)
    const within = relative(root, path)
    const isOutside = within === ".." || within.startsWith(`..${sep}`) || isAbsolute(within)
    if (isOutside || isHidden(within.split(sep))) return Option.none()
    return Option.some({ path, type: (yield* fs.stat(path)).type })
  }, Effect.orElseSucceed(Option.none))

  const send = (request: HttpServerRequest.HttpServerRequest, path: string) => {
    const url = `/${relative(top, path).split(sep).map(encodeURIComponent).join("/")}`
    const asked = request.modify({ url })
    return Effect.map(
      Effect.provideService(files, HttpServerRequest.HttpServerRequest, asked),
      HttpServerResponse.setHeader("X-Content-Type-Options", "nosniff")
    )
  }

  const list = Effect.fnUntraced(function* (path: string, pathname: string) {
    const names = (yield* fs.readDirectory(path)).filter((name) => !name.startsWith(".")).toSorted()
    const all = yield* Effect.forEach(names, (name) =>
      fs.stat(join(path, name)).pipe(
        Effect.map(({ type }) => (type === "Directory" ? `${name}/` : name)),
        Effect.orElseSucceed(() => name)
      )
    )
    const up = pathname === "/" ? [] : ["../"]
    const page = pageOf(decodeURIComponent(pathname), [...up, ...all].map(link))
    return HttpServerResponse.text(page, { contentType: "text/html; charset=utf-8" })
  })

  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.method !== "GET" && request.method !== "HEAD")
      return said(405, "Files here can only be read", { allow: "GET, HEAD" })
    const [pathname = "/"] = request.url.split("?")
    const query = request.url.slice(pathname.length)
    const names = namesIn(pathname)
    if (names === undefined) return notFound
    const root = yield* fs.realPath(folder)
    const found = yield* shown(root, join(root, ...names))
    if (Option.isNone(found)) return notFound
    const { path, type } = found.value
    if (type === "File") return pathname.endsWith("/") ? notFound : yield* send(request, path)
    if (type !== "Directory") return notFound
    // One slash: two would lead to another host.
    if (!pathname.endsWith("/"))
      return HttpServerResponse.redirect(`/${names.map(encodeURIComponent).join("/")}/${query}`, { status: 301 })
    const index = yield* shown(root, join(path, "index.html"))
    if (Option.isSome(index) && index.value.type === "File") return yield* send(request, index.value.path)
    return isListed ? yield* list(path, pathname) : notFound
  }).pipe(Effect.orElseSucceed(() => notFound))
})

/** Serves the folder at a socket in the file system, for as long as the scope is open. */
export const open = Effect.fn("FolderOrigin.open")(function* (socket: string, folder: string, isListed: boolean) {
  const app = yield* answers(resolve(folder), isListed)
  const handler = yield* NodeHttpServer.makeHandler(app, { scope: yield* Effect.scope })
  yield* Effect.acquireRelease(
    Effect.callback<HttpServer>((resume) => {
      const server = Http.server({ keepAliveTimeout: 0 }, handler)
      server.listen(socket, () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => (server.closeAllConnections(), void server.close()))
  )
}, Effect.provide(NodeHttpServer.layerHttpServices))
