/**
 * A stdio MCP server as an HTTP endpoint: the streamable HTTP transport at `/mcp` with sessions and resumable streams, requests without
 * sessions of revision 2026-07-28, and the transport of 2024-11-05 at `/sse` for old clients. It is a protected resource of OAuth 2.1
 * (RFC 9728), unless anyone may call.
 */
import { Result } from "effect"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { allowsBatches, memberOf, versionFor } from "../channel/mcp/McpResult.ts"
import { bytesOf, isResponse, parse } from "../channel/mcp/StdioTransport.ts"
import { type JsonObject, textOf } from "../channel/rpc/Tool.ts"
import type { Caller, Callers, Refusal } from "./Callers.ts"
import type { EndpointSession, Headers } from "./EndpointSession.ts"
import { MessageStream, type Outlet } from "./MessageStream.ts"
import * as RequestBody from "./RequestBody.ts"
import { Unacceptable } from "./RequestBody.ts"
import type { Sessions } from "./Sessions.ts"

export interface Surroundings {
  readonly sessions: Sessions
  readonly callers: Callers
  /** The address of the host, which is the name of the protected resource: tokens are made for it. */
  readonly resource: string
  /** The authorization server; none while it is not known, or where anyone may call. */
  readonly issuer: () => Promise<string | undefined>
  /** Pages of these origins may call, beside those of the host itself and of the visitor's machine; `*` for all. */
  readonly origins: ReadonlyArray<string>
  /** What clients ask for, beside who the caller is. */
  readonly scopes: ReadonlyArray<string>
  readonly onFault: (cause: unknown) => void
}

/** Who the caller is. */
const identity = ["openid", "email"]
const methods = new Map([
  ["/mcp", "GET, POST, DELETE"],
  ["/sse", "GET"],
  ["/messages", "POST"]
])
const metadataPath = "/.well-known/oauth-protected-resource"
const versions = new Set(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])

const json = (response: ServerResponse, status: number, body: object, headers: Headers = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

const refuse = (response: ServerResponse, { code, message, status }: Unacceptable, headers: Headers = {}) =>
  json(response, status, { jsonrpc: "2.0", error: { code, message }, id: null }, headers)

const isLoopback = (hostname: string) => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u.test(hostname)

/** Whether pages of an origin may call. */
const isAllowed = (origin: string, { origins, resource }: Surroundings) => {
  if (origins.includes("*") || origins.includes(origin)) return true
  if (!URL.canParse(origin)) return false
  const { hostname } = new URL(origin)
  return new URL(resource).origin === origin || isLoopback(hostname)
}

const crossOrigin = (origin: string): Headers => ({
  "access-control-allow-origin": origin,
  vary: "Origin",
  "access-control-expose-headers": "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After"
})

const preflight: Headers = {
  "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
  "access-control-allow-headers":
    "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name",
  "access-control-max-age": "7200"
}

const accepts = ({ headers: { accept = "" } }: IncomingMessage, type: string) =>
  accept.includes(type) || accept.includes("*/*") || accept.includes(`${type.split("/")[0]}/*`)

const isRequest = (message: JsonObject) => message["id"] !== undefined && !isResponse(message)
const isJson = (type: string | undefined) => /^application\/json\s*(?:;|$)/iu.test(type ?? "")

const noSession = () => new Unacceptable(404, "The session has ended, or is another caller's.", -32_001)
const full = () => new Unacceptable(503, "No session is free. Try again later.")

/** Passes what a client has sent to its server; answers go to the outlet. */
const pass = (session: EndpointSession, messages: ReadonlyArray<JsonObject>, body: Buffer, outlet: Outlet) => {
  const [first] = messages
  // What came is passed on as it is, unless it has line ends in it.
  const whole = messages.length === 1 && !body.includes(10) && !body.includes(13) ? body : undefined
  for (const message of messages) {
    const line = (message === first ? whole : undefined) ?? bytesOf(message)
    if (!isRequest(message)) {
      session.server.notify(session, message, line)
      continue
    }
    const refused = session.tools?.refused(message)
    if (refused === undefined) session.server.request(session, message, line, outlet)
    else {
      const error = { code: -32_602n, message: `Unknown tool: ${refused}` }
      outlet.answer(bytesOf({ jsonrpc: "2.0", id: message["id"] ?? null, error }))
    }
  }
}

const none: Outlet = { send: () => undefined, answer: () => undefined, abandon: () => undefined }

export const make = (surroundings: Surroundings): RequestListener => {
  const { callers, issuer, onFault, resource, sessions } = surroundings
  const scopes = [...identity, ...surroundings.scopes]
  const at = (path: string) => new URL(path, resource).href
  /** Clients of the old transport, by their sessions. */
  const old = new WeakMap<EndpointSession, Outlet>()

  const challenge = ({ error, retryAfter, status }: Refusal): Headers => {
    const fields = [
      ...(error === undefined ? [] : [`error="${error}"`]),
      `resource_metadata="${at(metadataPath)}"`,
      `scope="${scopes.join(" ")}"`
    ]
    return {
      ...(status === 401 ? { "www-authenticate": `Bearer ${fields.join(", ")}` } : {}),
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) })
    }
  }

  const metadata = async (response: ServerResponse) => {
    const server = await issuer()
    if (server === undefined) throw new Unacceptable(503, "The authorization server is not known now. Try again later.")
    const known = {
      resource,
      authorization_servers: [server],
      bearer_methods_supported: ["header"],
      scopes_supported: scopes
    }
    json(response, 200, known, { "cache-control": "max-age=60" })
  }

  const sessionOf = (id: string | undefined, caller: Caller) => {
    if (id === undefined) throw new Unacceptable(400, "The field Mcp-Session-Id is missing.")
    const session = sessions.get(id, caller)
    if (session === undefined) throw noSession()
    return session
  }

  /** Requests of 2026-07-28 have no session. */
  const postRequest = async (
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    message: JsonObject,
    body: Buffer
  ) => {
    if (isRequest(message)) RequestBody.checkFields(request, message)
    const session = await sessions.ofRequests(caller)
    if (session === undefined) throw full()
    if (!isRequest(message)) {
      pass(session, [message], body, none)
      return response.writeHead(202).end()
    }
    const stream: MessageStream = new MessageStream(response, {
      answers: 1,
      mayBeJson: true,
      headers: {},
      // A client that goes away has no use for the answer.
      onOver: (isCut) => isCut && session.server.drop(stream)
    })
    return pass(session, [message], body, stream)
  }

  const post = async (request: IncomingMessage, response: ServerResponse, caller: Caller) => {
    const { headers } = request
    if (!isJson(headers["content-type"])) throw new Unacceptable(415, "The body must be application/json.")
    if (!accepts(request, "application/json") || !accepts(request, "text/event-stream"))
      throw new Unacceptable(406, "Accept must have application/json and text/event-stream.")
    const body = await RequestBody.read(request, caller.key)
    const messages = RequestBody.messagesIn(body)
    const [message = {}] = messages
    const isModern = (headers["mcp-protocol-version"]?.toString() ?? "") >= "2026"
    if (messages.length === 1 && (isModern || RequestBody.claimOf(message) !== undefined))
      return postRequest(request, response, caller, message, body)
    const isInitialize = memberOf(message, "method") === "initialize"
    const id = headers["mcp-session-id"]?.toString()
    if (isInitialize && id === undefined && messages.length === 1) {
      const opened = await sessions.open(caller)
      if (opened === undefined) throw full()
      opened.version = String(memberOf(memberOf(message, "params"), "protocolVersion") ?? "")
      return begin(opened, response, message, body)
    }
    if (isInitialize) throw new Unacceptable(400, "initialize opens a session, and comes alone.", -32_600)
    const session = sessionOf(id, caller)
    const version = headers["mcp-protocol-version"]?.toString()
    if (version !== undefined && !versions.has(version))
      throw new Unacceptable(400, `This endpoint does not speak MCP ${version.slice(0, 40)}.`)
    if (messages.length > 1 && !allowsBatches(session.version))
      throw new Unacceptable(400, "MCP has no batches since 2025-06-18.", -32_600)
    const answers = messages.filter(isRequest).length
    if (answers === 0) {
      pass(session, messages, body, none)
      return response.writeHead(202).end()
    }
    const field = { "mcp-session-id": session.id }
    return pass(
      session,
      messages,
      body,
      session.respond(response, field, { answers, mayBeJson: messages.length === 1 })
    )
  }

  const begin = (session: EndpointSession, response: ServerResponse, message: JsonObject, body: Buffer) => {
    const field = { "mcp-session-id": session.id }
    const outlet = session.respond(response, field, { answers: 1, mayBeJson: true })
    const known = session.server.initialized
    if (known !== undefined) {
      session.version = versionFor(session.version)
      const result = { ...known, protocolVersion: session.version }
      return outlet.answer(bytesOf({ jsonrpc: "2.0", id: message["id"] ?? null, result }))
    }
    const answer = (line: Uint8Array) => {
      const result = memberOf(Result.getOrUndefined(parse(Buffer.from(line).toString("utf8"))), "result")
      session.version = textOf(result ?? null, "protocolVersion") ?? session.version
      outlet.answer(line)
      // A client whose initialize failed does not come back.
      if (result === undefined) session.close()
    }
    pass(session, [message], body, { send: (line) => outlet.send(line), abandon: () => outlet.abandon(), answer })
  }

  const get = (request: IncomingMessage, response: ServerResponse, caller: Caller) => {
    if (!accepts(request, "text/event-stream")) throw new Unacceptable(406, "Accept must have text/event-stream.")
    const session = sessionOf(request.headers["mcp-session-id"]?.toString(), caller)
    const field = { "mcp-session-id": session.id }
    const lastEventId = request.headers["last-event-id"]?.toString()
    if (lastEventId === undefined) return session.listen(response, field)
    if (!session.resume(response, field, lastEventId))
      throw new Unacceptable(400, "Last-Event-ID is of no event of this session.")
  }

  /** The transport of 2024-11-05: everything comes by one stream, at whose end the session ends. */
  const openOld = async (response: ServerResponse, caller: Caller) => {
    const session = await sessions.open(caller)
    if (session === undefined) throw full()
    const stream = session.listenOnly(response)
    response.write(`event: endpoint\ndata: /messages?sessionId=${session.id}\n\n`)
    old.set(session, { ...none, send: (line) => stream.send(line), answer: (line) => stream.send(line) })
  }

  const postOld = async (request: IncomingMessage, response: ServerResponse, caller: Caller, url: URL) => {
    const session = sessionOf(url.searchParams.get("sessionId") ?? "", caller)
    const outlet = old.get(session)
    if (outlet === undefined) throw noSession()
    const body = await RequestBody.read(request, caller.key)
    pass(session, RequestBody.messagesIn(body), body, outlet)
    response.writeHead(202).end()
  }

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const url = new URL(request.url ?? "/", resource)
    const { method = "GET" } = request
    const { origin } = request.headers
    if (origin !== undefined) {
      if (!isAllowed(origin, surroundings)) throw new Unacceptable(403, "Pages of this origin may not call.")
      response.setHeaders(new Map(Object.entries(crossOrigin(origin))))
    }
    if (method === "OPTIONS") return response.writeHead(204, preflight).end()
    const { pathname } = url
    if (pathname === metadataPath || pathname.startsWith(`${metadataPath}/`)) return metadata(response)
    if (!methods.has(pathname))
      throw new Unacceptable(404, `MCP is at ${at("/mcp")}, and for old clients at ${at("/sse")}.`)
    const allowed = methods.get(pathname) ?? ""
    if (!allowed.split(", ").includes(method)) {
      response.setHeader("allow", allowed)
      throw new Unacceptable(405, `The method must be one of ${allowed}.`)
    }
    const caller = await callers.admit(request)
    if ("status" in caller) return refuse(response, new Unacceptable(caller.status, caller.why), challenge(caller))
    if (pathname === "/sse") return openOld(response, caller)
    if (pathname === "/messages") return postOld(request, response, caller, url)
    if (method === "POST") return post(request, response, caller)
    if (method === "GET") return get(request, response, caller)
    sessionOf(request.headers["mcp-session-id"]?.toString(), caller).close()
    return response.writeHead(204).end()
  }

  return (request, response) => {
    void route(request, response).catch((cause: unknown) => {
      if (response.headersSent) return void response.destroy()
      if (!(cause instanceof Unacceptable)) onFault(cause)
      const refusal =
        cause instanceof Unacceptable ? cause : new Unacceptable(500, "The endpoint failed inside.", -32_603)
      refuse(response, refusal, request.complete ? {} : { connection: "close" })
    })
  }
}
