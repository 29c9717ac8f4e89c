/** A request to a service with routes, as its origin gets it, and how far it and its answer have come. */
import { framingOf } from "@catenet/proxy/internal/http1/HostRewriter"
import { safeMethods } from "@catenet/proxy/internal/http1/RequestHead"
import { plainResponse, type ProxyResponse, silentPage } from "@catenet/proxy/internal/ProxyPages"
import { BodyFraming, type Framing } from "@catenet/wire/http/BodyFraming"
import { ResponseTracker } from "@catenet/wire/http/ResponseTracker"
import type { Socket } from "node:net"
import type { OriginPool, PoolMember } from "./OriginPool.ts"

export interface RouteTarget {
  readonly pool: OriginPool
  readonly stripPrefix: string | undefined
}

/** A connection to an origin. */
export interface Line {
  readonly socket: Socket
  readonly member: PoolMember
  isReused: boolean
  /** The origin has sent its end, instead of breaking off. */
  hasEnded: boolean
}

/** A request without a whole answer, or with a body that is still coming. */
export interface Exchange {
  /** As the client wrote it, without the empty line. */
  readonly head: string
  /** For the origin, with the empty line. */
  readonly bytes: Buffer
  readonly request: { readonly method: string; readonly upgrade: boolean }
  /** It changes nothing and has no body. */
  readonly isRepeatable: boolean
  readonly pool: OriginPool
  readonly body: BodyFraming
  readonly answer: ResponseTracker
  readonly tried: Set<PoolMember>
  line: Line | undefined
  hasAnswer: boolean
}

export const headEnd = Buffer.from("\r\n\r\n")
const requestLine = /^([A-Z-]{1,32}) ([^ \r\n]+) HTTP\/1\.[01](?=\r\n|$)/u
const framingFields = /\r\n(content-length|transfer-encoding|upgrade):((?:[^\r]|\r(?!\n))*)/giu

const parse = (head: string) => {
  const [, method, target] = requestLine.exec(head) ?? []
  if (method === undefined || target === undefined) return undefined
  const lengths: Array<string> = []
  let encoding: string | undefined
  let upgrade = false
  for (const [, name = "", value = ""] of head.matchAll(framingFields))
    if (name.length === "upgrade".length) upgrade = true
    else if (name.length === "content-length".length) lengths.push(value.trim())
    else encoding = encoding === undefined ? value.trim().toLowerCase() : ""
  const framing = framingOf(encoding, lengths)
  return framing === undefined ? undefined : { method, target, framing, upgrade }
}

/** Whether bytes that hold no whole head may become one. */
export const canBegin = (bytes: Buffer): boolean => /^[A-Z-]{1,32}(?: |$)/u.test(bytes.toString("latin1", 0, 33))

/** What is answered where no origin of a route takes requests for so long. */
export const downPage = (millis: number): ProxyResponse => {
  const { fields, ...page } = silentPage()
  const seconds = Math.max(1, Math.ceil(millis / 1_000))
  return { ...page, status: 503, fields: { ...fields, "Retry-After": `${seconds}` } }
}

/** The method that this head begins with. */
export const methodOf = (head: string): string | undefined => requestLine.exec(head)?.[1]

const pathOf = (target: string) => {
  const at = target.indexOf("?")
  return at < 0 ? target : target.slice(0, at)
}

/** The target as the origin sees it. A prefix ends where a part of the path ends. */
const stripped = (target: string, prefix: string | undefined) => {
  if (prefix === undefined || !target.startsWith(prefix)) return target
  const rest = target.slice(prefix.length)
  if (rest === "" || rest.startsWith("?")) return `/${rest}`
  // Two slashes at the beginning would name another host to some origins.
  return rest.startsWith("/") ? rest.replace(/^\/+/u, "/") : target
}

const hasBody = (framing: Framing) => framing._tag === "Chunked" || framing.bytes > 0

/** Reads the head at the beginning of `bytes`, `end` of them long; or what is to be answered instead. */
export const read = (
  bytes: Buffer,
  end: number,
  routeOf: (path: string) => RouteTarget | undefined
): Exchange | ProxyResponse => {
  const head = bytes.toString("latin1", 0, Math.max(end, 0))
  const request = parse(head)
  if (request === undefined) return plainResponse(400, "this service speaks HTTP/1.1")
  const { framing, method, target } = request
  const route = routeOf(pathOf(target))
  if (route === undefined) return plainResponse(404, "there is nothing at this path")
  const sent = stripped(target, route.stripPrefix)
  const rest = head.slice(method.length + 1 + target.length)
  return {
    head,
    bytes:
      sent === target
        ? bytes.subarray(0, end + headEnd.length)
        : Buffer.from(`${method} ${sent}${rest}\r\n\r\n`, "latin1"),
    request,
    isRepeatable: safeMethods.has(method) && !hasBody(framing),
    pool: route.pool,
    body: new BodyFraming(framing),
    answer: new ResponseTracker(),
    tried: new Set(),
    line: undefined,
    hasAnswer: false
  }
}
