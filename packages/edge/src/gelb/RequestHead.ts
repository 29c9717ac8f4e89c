/**
 * One HTTP/1 request head (RFC 9112): strict reading, and rewriting so that the origin learns who the visitor is and
 * cannot be lied to about it. Whatever two parsers could read differently is refused.
 */
import { Data, Result } from "effect"
import type { Framing } from "./BodyEnd.ts"

/** Why a request is answered by the edge itself. */
export class BadRequest extends Data.TaggedError("BadRequest")<{
  readonly status: 400 | 405 | 421 | 431
  readonly reason: string
}> {}

export interface RequestHead {
  readonly method: string
  readonly host: string | undefined
  readonly framing: Framing
  /** The visitor asks to leave HTTP/1 (WebSocket). */
  readonly upgrade: boolean
  /** Head lines that go on to the origin: request line and fields, without what only the edge may say. */
  readonly lines: ReadonlyArray<string>
}

/** The visitor as the origin shall know it. */
export interface Visitor {
  readonly address: string
  readonly hostname: string
}

/** Methods that change nothing at the origin (RFC 9110 section 9.2.1). */
export const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

/** The request changes nothing and has no body, so that it may be asked twice. */
export const isSafe = ({ framing, method }: RequestHead): boolean =>
  SAFE.has(method) && framing._tag === "Length" && framing.bytes === 0

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) [\x21-\x7e\x80-\xff]+ HTTP\/1\.[01]$/
// eslint-disable-next-line no-control-regex -- control characters are exactly what must be found
const FORBIDDEN = /[\0-\x08\x0a-\x1f\x7f]/

/** Fields that only the edge may set. */
export const OURS: ReadonlySet<string> = new Set([
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "x-real-ip"
])

const bad = (reason: string, status: BadRequest["status"] = 400) => Result.fail(new BadRequest({ status, reason }))

const parseFraming = (lengths: ReadonlyArray<string>, encodings: ReadonlyArray<string>) => {
  if (encodings.length === 0 && lengths.length === 0) return { _tag: "Length", bytes: 0 } as const
  if (encodings.length > 0) {
    if (lengths.length > 0 || encodings.length > 1 || encodings[0]?.toLowerCase() !== "chunked") return undefined
    return { _tag: "Chunked" } as const
  }
  const [length = "", ...others] = lengths
  return /^\d{1,15}$/.test(length) && others.every((other) => other === length)
    ? ({ _tag: "Length", bytes: Number(length) } as const)
    : undefined
}

/** Reads a head given as latin-1 text without its closing empty line. */
export const parse = (text: string): Result.Result<RequestHead, BadRequest> => {
  const [requestLine = "", ...fields] = text.split("\r\n")
  const method = REQUEST_LINE.exec(requestLine)?.[1]
  if (method === undefined) return bad("malformed request line")
  if (method === "CONNECT" || method === "PRI") return bad(`${method} is not served`, 405)
  const lines = [requestLine]
  const values = new Map<string, Array<string>>()
  for (const field of fields) {
    const colon = field.indexOf(":")
    const name = field.slice(0, Math.max(colon, 0)).toLowerCase()
    const value = field.slice(colon + 1).trim()
    if (!TOKEN.test(name) || FORBIDDEN.test(value)) return bad("malformed field")
    if (OURS.has(name)) continue
    values.set(name, [...(values.get(name) ?? []), value])
    lines.push(field)
  }
  const framing = parseFraming(values.get("content-length") ?? [], values.get("transfer-encoding") ?? [])
  if (framing === undefined) return bad("ambiguous body length")
  const [host, ...otherHosts] = values.get("host") ?? []
  if (otherHosts.length > 0) return bad("more than one host")
  const connection = (values.get("connection") ?? [])
    .join(",")
    .toLowerCase()
    .split(/\s*,\s*/)
  const upgrade = values.has("upgrade") && connection.includes("upgrade")
  return Result.succeed({ method, host, framing, upgrade, lines })
}

const quotedNode = (address: string) => (address.includes(":") ? `"[${address}]"` : address)

/** The fields that name the visitor (RFC 7239 and its older cousins). */
export const visitorFields = (visitor: Visitor, host: string | undefined): Readonly<Record<string, string>> => {
  const named = host ?? visitor.hostname
  const quotedHost = /^[\w.:-]*$/.test(named) ? `;host="${named}"` : ""
  return {
    "X-Forwarded-For": visitor.address,
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": named,
    Forwarded: `for=${quotedNode(visitor.address)}${quotedHost};proto=https`
  }
}

const lines = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")

/** The host name of a Host field without its port, as comparable with a server name. */
export const hostnameOf = (host: string): string => host.replace(/:\d*$/, "").replace(/\.$/, "").toLowerCase()

/** The head as it goes to the origin, or a refusal when it asks for another host than the connection was made for. */
export const rewrite = (head: RequestHead, visitor: Visitor): Result.Result<Buffer, BadRequest> =>
  head.host !== undefined && hostnameOf(head.host) !== visitor.hostname
    ? bad(`this connection is for ${visitor.hostname}`, 421)
    : Result.succeed(
        Buffer.from(`${head.lines.join("\r\n")}\r\n${lines(visitorFields(visitor, head.host))}\r\n`, "latin1")
      )
