/**
 * One HTTP/1 request head by the letter of RFC 9112: what is read is written anew for the origin, which learns who the
 * visitor is and cannot be lied to about it. What two parsers could read differently is refused.
 */
import type { Edits } from "@catenet/domain/rules/Evaluation"
import { Entropy } from "@catenet/platform/Entropy"
import { clientOf, type ForwardedChain } from "@catenet/platform/ForwardedChain"
import { isIP } from "@catenet/platform/IpAddress"
import type { Framing } from "@catenet/wire/http/BodyFraming"
import { type Field, listOf, parseField } from "@catenet/wire/http/FieldLine"
import { originCookies } from "@catenet/wire/transport/GateCookies"
import { Data, Result } from "effect"
import { editFields } from "../FieldEdits.ts"
import { isEndToEnd, isProtected, isRequestId, requestId } from "../FieldNames.ts"
import { hostnameOf, isAuthority, parseTarget } from "./RequestTarget.ts"

/** Bytes of the longest head that is read, of a request or of an answer. */
export const maxHead = 65_536

/** Why a request is answered by the edge itself. */
export class BadRequest extends Data.TaggedError("BadRequest")<{
  readonly status: 400 | 405 | 408 | 413 | 421 | 431
  readonly reason: string
}> {}

export interface RequestHead {
  readonly method: string
  /** In origin-form, or `*`. */
  readonly target: string
  /** Of HTTP/1. */
  readonly minor: "0" | "1"
  /** The authority that the request is for; absent with HTTP/1.0 only. */
  readonly host: string | undefined
  readonly framing: Framing
  /** The protocol for which the visitor asks to leave HTTP/1, such as `websocket`. */
  readonly protocol: string | undefined
  readonly upgrade: boolean
  /** The visitor asks nothing more on this connection. */
  readonly last: boolean
  /** Cookies as they were sent. */
  readonly cookie: string
  /** End-to-end fields, in their order, without what only the edge may say. */
  readonly fields: ReadonlyArray<Field>
  /** The way of the request to a trusted proxy; absent for others. */
  readonly chain: ForwardedChain | undefined
  /** Fields about the connection and the body, written for the origin. */
  readonly structure: string
}

/** Who a visitor is to the login gate. */
export interface GateIdentity {
  /** An e-mail address, or the subject where there is none. */
  readonly email: string
  /** The account, or `share:` and the id of a link; absent where the control plane does not say it. */
  readonly subject?: string | undefined
  /** The same as a JWT. */
  readonly assertion?: string
}

/** The visitor as the origin shall know it. */
export interface Visitor {
  readonly address: string
  /** The name the connection was made for; absent where the ClientHello had none. */
  readonly hostname: string | undefined
  /** Which addresses are trusted proxies; absent unless this one is. */
  readonly isProxy?: (address: string) => boolean
  /** Who it is to the login gate; absent where that was not asked. */
  readonly identity?: GateIdentity | undefined
  /** What rules change of its request and of the answer. */
  readonly edits?: Edits | undefined
}

/** A visitor, whose fields about the way of a request are passed on if it is a trusted proxy. */
export const visitorAt = (
  address: string,
  hostname: string | undefined,
  isProxy: ((address: string) => boolean) | undefined
): Visitor => ({ address, hostname, ...(isProxy?.(address) === true ? { isProxy } : {}) })

/** Methods that change nothing at the origin (RFC 9110 section 9.2.1). */
export const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

/** The request changes nothing and has no body, so that it may be asked twice. */
export const isSafe = ({ framing, method }: RequestHead): boolean =>
  safeMethods.has(method) && framing._tag === "Length" && framing.bytes === 0

const requestLinePattern = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([^ ]+) HTTP\/1\.([01])$/

/** Whether a line can begin a request, so that what cannot is answered before the head is whole. */
export const isRequestLine = (line: string): boolean => requestLinePattern.test(line)

const bad = (reason: string, status: BadRequest["status"] = 400) => Result.fail(new BadRequest({ status, reason }))

const none: ReadonlyArray<string> = []
const valuesOf = (fields: ReadonlyArray<Field>, key: string): ReadonlyArray<string> => {
  let found: Array<string> | undefined
  for (const field of fields) if (field.key === key) (found ??= []).push(field.value)
  return found ?? none
}

const parseFraming = (fields: ReadonlyArray<Field>, minor: RequestHead["minor"]): Framing | undefined => {
  const lengths = valuesOf(fields, "content-length")
  const encodings = valuesOf(fields, "transfer-encoding")
  if (encodings.length === 0 && lengths.length === 0) return { _tag: "Length", bytes: 0 }
  if (encodings.length > 0) {
    // HTTP/1.0 knows no transfer encodings, so a peer that speaks it may see no body here (RFC 9112 section 6.1).
    const readable = minor === "1" && lengths.length === 0 && encodings.length === 1
    return readable && encodings[0]?.toLowerCase() === "chunked" ? { _tag: "Chunked" } : undefined
  }
  const [length = ""] = lengths
  return lengths.length === 1 && /^\d{1,15}$/.test(length) ? { _tag: "Length", bytes: Number(length) } : undefined
}

/** HTTP/2 on a connection that began with HTTP/1 would carry requests that the edge does not read. */
const isHttp = (protocol: string) => /^(?:h2|http|tls)/i.test(protocol)

interface Connection {
  readonly options: ReadonlySet<string>
  readonly protocol: string | undefined
  readonly trailers: boolean
}

const parseConnection = (fields: ReadonlyArray<Field>, minor: RequestHead["minor"]): Connection => {
  const options = new Set(valuesOf(fields, "connection").flatMap(listOf))
  const asked = minor === "1" && options.has("upgrade") ? valuesOf(fields, "upgrade").flatMap(listOf) : none
  const protocols = asked.filter((protocol) => !isHttp(protocol))
  return {
    options,
    protocol: protocols.length === 0 ? undefined : protocols.join(", "),
    trailers: valuesOf(fields, "te").flatMap(listOf).includes("trailers")
  }
}

const line = (name: string, value: string) => `${name}: ${value}\r\n`

const structureOf = (
  { options, protocol, trailers }: Connection,
  framing: Framing,
  minor: RequestHead["minor"],
  hasLength: boolean
) => {
  const hasTrailers = trailers && minor === "1"
  let text = ""
  if (framing._tag === "Chunked") text += line("Transfer-Encoding", "chunked")
  else if (hasLength) text += line("Content-Length", `${framing.bytes}`)
  const kept = []
  if (protocol !== undefined) kept.push("Upgrade")
  if (hasTrailers) kept.push("TE")
  if (options.has("close")) kept.push("close")
  else if (options.has("keep-alive")) kept.push("keep-alive")
  if (kept.length > 0) text += line("Connection", kept.join(", "))
  if (protocol !== undefined) text += line("Upgrade", protocol)
  if (hasTrailers) text += line("TE", "trailers")
  return text
}

/** Without the gate's cookies, and without a name of the request that cannot be passed on, or several of them. */
const ownFields = (fields: ReadonlyArray<Field>): ReadonlyArray<Field> => {
  const [id, ...more] = valuesOf(fields, requestId)
  const hasId = id !== undefined && more.length === 0 && isRequestId(id)
  const passed = id === undefined || hasId ? fields : fields.filter(({ key }) => key !== requestId)
  return passed.flatMap(withoutGateCookies)
}

const withoutGateCookies = (field: Field): ReadonlyArray<Field> => {
  if (field.key !== "cookie") return [field]
  const value = originCookies(field.value)
  return value === undefined ? [] : [{ ...field, value }]
}

/** The values of a field that is a list, as one. */
const joined = (...values: ReadonlyArray<string | undefined>) =>
  values.filter((value) => value !== undefined && value !== "").join(", ")

/** Reads a head given as latin-1 text without its closing empty line; `fromProxy`: of a trusted one. */
export const parse = (text: string, fromProxy = false): Result.Result<RequestHead, BadRequest> => {
  const [requestLine = "", ...lines] = text.split("\r\n")
  const [, method, asked = "", minor] = requestLinePattern.exec(requestLine) ?? []
  if (method === undefined || (minor !== "0" && minor !== "1")) return bad("malformed request line")
  if (method === "CONNECT" || method === "PRI") return bad(`${method} is not served`, 405)
  const target = parseTarget(method, asked)
  if (target === undefined) return bad("malformed target")
  const all: Array<Field> = []
  for (const line of lines) {
    const field = parseField(line)
    if (field === undefined) return bad("malformed field")
    all.push(field)
  }
  const framing = parseFraming(all, minor)
  if (framing === undefined) return bad("ambiguous body length")
  const hosts = valuesOf(all, "host")
  if (hosts.length > 1) return bad("more than one host")
  if (hosts.length === 0 && minor === "1") return bad("no host")
  const host = target.authority ?? hosts[0]
  const connection = parseConnection(all, minor)
  const isNamed = (key: string) => connection.options.has(key) && !isProtected(key)
  const listed = (key: string) => (isNamed(key) ? undefined : joined(...valuesOf(all, key)) || undefined)
  return Result.succeed({
    method,
    target: target.path,
    minor,
    host,
    framing,
    protocol: connection.protocol,
    upgrade: connection.protocol !== undefined,
    last: connection.options.has("close") || (minor === "0" && !connection.options.has("keep-alive")),
    cookie: valuesOf(all, "cookie").join("; "),
    chain: fromProxy ? { forwardedFor: listed("x-forwarded-for"), forwarded: listed("forwarded") } : undefined,
    fields: ownFields(all.filter(({ key }) => isEndToEnd(key) && !isNamed(key))),
    structure: structureOf(connection, framing, minor, valuesOf(all, "content-length").length > 0)
  })
}

const quotedNode = (address: string) => (address.includes(":") ? `"[${address}]"` : address)

/** Of an authority; without one it is that of https. */
const portOf = (authority: string) => /:(\d{1,5})$/.exec(authority)?.[1] ?? "443"

const gateFields = (identity: GateIdentity | undefined): Readonly<Record<string, string>> =>
  identity === undefined
    ? {}
    : {
        "X-Gate-Email": identity.email,
        ...(identity.subject === undefined ? {} : { "X-Gate-Subject": identity.subject }),
        ...(identity.assertion === undefined ? {} : { "X-Gate-Assertion": identity.assertion })
      }

/** The fields that name the visitor (RFC 7239 and its older cousins), but for the request's own. */
export const visitorFields = (
  { address, hostname, identity, isProxy }: Visitor,
  host: string | undefined,
  chain?: ForwardedChain
): Readonly<Record<string, string>> => {
  const named = host ?? hostname ?? "unknown"
  const before = isProxy === undefined ? undefined : chain
  const client = isProxy === undefined || before === undefined ? address : clientOf(address, before, isProxy)
  return {
    "X-Forwarded-For": joined(before?.forwardedFor, address),
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": named,
    "X-Forwarded-Port": portOf(named),
    ...(isIP(client) === 0 ? {} : { "X-Real-IP": client }),
    ...gateFields(identity),
    Forwarded: joined(before?.forwarded, `for=${quotedNode(address)};host="${named}";proto=https`)
  }
}

/** What {@link visitorFields} are as text for the host that a visitor asked last, which is mostly the one it asks next. */
const written = new WeakMap<Visitor, { readonly host: string | undefined; readonly text: string }>()

const visitorText = (visitor: Visitor, { chain, host }: RequestHead): string => {
  const last = written.get(visitor)
  if (last !== undefined && last.host === host && chain === undefined) return last.text
  let text = ""
  for (const [name, value] of Object.entries(visitorFields(visitor, host, chain))) text += line(name, value)
  if (chain === undefined) written.set(visitor, { host, text })
  return text
}

/** The name of a request that came without one. */
export const newRequestId = (): string => Entropy.randomUUID()

/** Refuses a request for another host than the connection was made for. */
export const checkHost = ({ host }: RequestHead, { hostname }: Visitor): Result.Result<void, BadRequest> =>
  host !== undefined && !(isAuthority(host) && (hostname === undefined || hostnameOf(host) === hostname))
    ? hostname === undefined
      ? bad("malformed host")
      : bad(`this connection is for ${hostname}`, 421)
    : Result.succeed(undefined)

/** The head as it goes to the origin, or a refusal when it asks for another host than the connection was made for. */
export const rewrite = (head: RequestHead, visitor: Visitor): Result.Result<Buffer, BadRequest> =>
  Result.map(checkHost(head, visitor), () => {
    let text = `${head.method} ${head.target} HTTP/1.${head.minor}\r\nHost: ${head.host ?? visitor.hostname ?? ""}\r\n`
    const edits = visitor.edits?.request ?? []
    const fields = edits.length === 0 ? head.fields : editFields(head.fields, edits)
    for (const { name, value } of fields) text += line(name, value)
    text += head.structure
    if (!head.fields.some(({ key }) => key === requestId)) text += line("X-Request-Id", newRequestId())
    return Buffer.from(`${text}${visitorText(visitor, head)}\r\n`, "latin1")
  })
