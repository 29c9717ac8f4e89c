/**
 * Serves the inspector on 127.0.0.1, for who has its token. Another page in the same browser cannot ask it: the name in the Host field
 * must be that of this machine (against DNS rebinding), the cookie stays within the site, and what changes something must come from
 * the inspector's own pages.
 */
import { readBounded } from "@catenet/platform/BoundedRead"
import { Entropy } from "@catenet/platform/Entropy"
import { Http, type IncomingMessage, type ServerResponse } from "@catenet/platform/Http"
import type { OnFault } from "@catenet/wire/transport/FaultBoundary"
import { Effect } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"
import { type Answer, type Asked, make, problem } from "./InspectRoutes.ts"
import type { Recording } from "./Recording.ts"

export const firstPort = 4040
/** So many ports are tried, one after the other. */
export const ports = 20
/** An edited request with a body as large as the recording keeps, in the coding of a form. */
const maxForm = 4 * 1_048_576

export interface Inspector {
  readonly port: number
  readonly token: string
  /** Its page, with the token. */
  readonly address: string
}

const always = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

const digest = (text: string) => createHash("sha256").update(text).digest()

const cookiesIn = (header: string | undefined, name: string) =>
  (header ?? "").split(/; */u).flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : []))

/** Names under which a browser of this machine reaches the port. */
const isOwnHost = (host: string | undefined, port: number) =>
  host === `127.0.0.1:${port}` || host === `localhost:${port}`

const answering = (recording: Recording, port: number, token: string, onFault: OnFault) => {
  const route = make(recording, onFault)
  const expected = digest(token)
  const isToken = (given: string | undefined) => given !== undefined && timingSafeEqual(digest(given), expected)
  const cookie = `ct_inspect_${port}`
  const isFromElsewhere = ({ headers: { host, origin } }: IncomingMessage, site: string | undefined) =>
    (origin !== undefined && origin !== `http://${host}`) ||
    (site !== undefined && site !== "same-origin" && site !== "none")

  return async (request: IncomingMessage): Promise<Answer> => {
    const { headers, method = "GET", url: target = "/" } = request
    if (!isOwnHost(headers.host, port))
      return problem("/", 421, "Wrong host", `This server answers to 127.0.0.1:${port} alone.`)
    const url = new URL(target.startsWith("/") ? `http://${headers.host}${target}` : "http://127.0.0.1/")
    const { pathname: path, searchParams: query } = url
    const given = query.get("token")
    if (given !== null && method === "GET" && isToken(given)) {
      query.delete("token")
      return {
        status: 303,
        headers: {
          location: `${path.replace(/^\/+/u, "/")}${url.search}`,
          "set-cookie": `${cookie}=${token}; Path=/; HttpOnly; SameSite=Strict`
        },
        body: ""
      }
    }
    const [, bearer] = /^Bearer ([\w-]+)$/u.exec(headers.authorization ?? "") ?? []
    const isOpen = path === "/style.css" || path === "/script.js"
    const isKnown = isToken(bearer) || cookiesIn(headers.cookie, cookie).some(isToken)
    if (!isKnown && !isOpen)
      return problem(path, 401, "Token needed", "Open the whole address that ct-agent printed, with its token.")
    const site = headers["sec-fetch-site"]
    if (
      bearer === undefined &&
      !["GET", "HEAD"].includes(method) &&
      isFromElsewhere(request, Array.isArray(site) ? site[0] : site)
    )
      return problem(path, 403, "Not from here", "Another page asked for this change.")
    const body = await readBounded(request, maxForm)
    if (body === undefined) return problem(path, 413, "Too large", "The body of an edited request is at most 4 MiB.")
    const isForm = /^application\/x-www-form-urlencoded/iu.test(headers["content-type"] ?? "")
    const asked: Asked = {
      method,
      path,
      query,
      etag: headers["if-none-match"],
      body: body.toString("utf8"),
      isForm
    }
    return Effect.runPromise(route(asked))
  }
}

const send = (request: IncomingMessage, response: ServerResponse, { body, headers, status }: Answer) => {
  const bytes = typeof body === "string" ? Buffer.from(body) : body
  response.writeHead(status, { ...always, ...headers, ...(status === 304 ? {} : { "content-length": bytes.length }) })
  response.end(request.method === "HEAD" ? undefined : bytes)
}

/** Serves it until the scope closes, on the first of the ports that is free; undefined where none is. */
export const open = Effect.fn("InspectServer.open")(function* (
  recording: Recording,
  onFault: OnFault,
  first: number = firstPort
) {
  const token = Entropy.randomBytes(32).toString("base64url")
  const server = Http.server({ requestTimeout: 10_000, headersTimeout: 10_000, keepAliveTimeout: 5_000 })
  const listen = (port: number) =>
    Effect.callback<boolean>((resume) => {
      const failed = () => resume(Effect.succeed(false))
      server.once("error", failed)
      server.listen(port, "127.0.0.1", () => {
        server.off("error", failed)
        resume(Effect.succeed(true))
      })
    })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
  for (let port = first; port < first + ports; port++) {
    if (!(yield* listen(port))) continue
    const bound = server.address()
    const own = typeof bound === "object" && bound !== null ? bound.port : port
    const answer = answering(recording, own, token, onFault)
    server.on("error", onFault)
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      response.on("error", () => undefined)
      answer(request).then(
        (answered) => send(request, response, answered),
        (error: unknown) => {
          onFault(error)
          response.destroy()
        }
      )
    })
    const inspector: Inspector = { port: own, token, address: `http://127.0.0.1:${own}/?token=${token}` }
    return inspector
  }
  return undefined
})
