/**
 * `/mcp`: one MCP server for an account, over the streamable HTTP transport without sessions, so that any replica answers. It is a
 * protected resource of OAuth 2.1 (RFC 9728): a token that is made for the portal's host opens it and nothing else, and a token of the
 * account opens it too. It has what is not encrypted between two machines; servers behind channels are reached from the caller's own.
 */
import { type Caller, quotaSubject } from "@catenet/domain/api/Access"
import { MalformedRequest, RateLimited } from "@catenet/domain/values/RequestErrors"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { ClientAddresses } from "../http/ClientAddresses.ts"
import { AccessTokens } from "../identity/AccessTokens.ts"
import * as AccountAccess from "../identity/AccountAccess.ts"
import { EmailDomains } from "../identity/EmailDomains.ts"
import { Settings } from "../settings/Settings.ts"
import * as McpTools from "./McpTools.ts"

const path = "/mcp"
const metadataPath = "/.well-known/oauth-protected-resource/mcp"
/** Tokens of one network that are refused. */
const refusedPerMinute = 30

const versions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]

const Message = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.optionalKey(Schema.Union([Schema.String, Schema.Finite])),
  method: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})
const readMessage = Schema.decodeUnknownOption(Schema.fromJsonString(Message))

const instructions =
  "These tools read the account at this installation of Catenet: tunnels, channels, agents, states and events. " +
  "MCP servers behind channels are encrypted up to the caller's machine and are not here: run ct-agent mcp gateway there. " +
  "An MCP server behind a tunnel has an address of its own, at its host name."

const json = (body: object, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json", headers })

type Answer = { readonly result: object } | { readonly error: { readonly code: number; readonly message: string } }

const failure = (code: number, message: string): Answer => ({ error: { code, message } })

const resultOf = (value: object): Answer => ({
  result: { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value }
})

const bearerOf = (header: string | undefined) =>
  Option.map(Option.fromNullishOr(/^Bearer +([\w.~+/-]{1,16384}=*)$/iu.exec(header ?? "")?.[1]), (text) =>
    Redacted.make(text)
  )

const dependencies = Effect.gen(function* () {
  const { oidcIssuer: issuer, portalBaseUrl, requestsPerMinute } = yield* Settings
  const { budgetKey } = yield* ClientAddresses
  const tools = yield* McpTools.make
  return {
    access: yield* AccountAccess.make,
    tokens: yield* AccessTokens,
    domains: yield* EmailDomains,
    budgetKey,
    issuer,
    portal: portalBaseUrl,
    /** The name of the protected resource, which is the host as those of tunnels are. */
    resource: `${portalBaseUrl.origin}/`,
    byName: new Map(tools.map((tool) => [tool.name, tool])),
    refused: new TokenBuckets(refusedPerMinute),
    calls: requestsPerMinute === 0 ? undefined : new TokenBuckets(requestsPerMinute)
  }
})
type State = Effect.Success<typeof dependencies>

/** Of a token for this address, or of one for the account. */
const callerOf = ({ access, domains, resource, tokens }: State, token: Redacted.Redacted) =>
  tokens.verifyForResource(token, resource).pipe(
    Effect.tap(({ identity }) => domains.require(identity)),
    Effect.map(({ identity: { maker, subject } }): Caller["Service"] => ({
      subject,
      email: null,
      means: "bearer",
      maker
    })),
    Effect.catchTag("TokenRefused", () => access.bearer(token))
  )

type Params = Readonly<Record<string, unknown>>

const called = Effect.fnUntraced(function* ({ byName }: State, account: Caller["Service"], params: Params) {
  const name = String(params["name"])
  const tool = byName.get(name)
  if (tool === undefined) return failure(-32_602, `Unknown tool: ${name.slice(0, 100)}`)
  return yield* Effect.match(tool.run(account, params["arguments"] ?? {}), {
    onSuccess: resultOf,
    onFailure: ({ message }): Answer => ({ result: { content: [{ type: "text", text: message }], isError: true } })
  })
})

const listed = ({ byName }: State) =>
  Array.from(byName.values(), ({ description, inputSchema, name }) => ({
    name,
    description,
    inputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false }
  }))

const answer = (
  state: State,
  account: Caller["Service"],
  method: string,
  params: Params
): Effect.Effect<Answer, never, HttpServerRequest.HttpServerRequest> => {
  if (method === "tools/call") return called(state, account, params)
  if (method === "tools/list") return Effect.succeed({ result: { tools: listed(state) } })
  if (method === "ping") return Effect.succeed({ result: {} })
  if (method !== "initialize") return Effect.succeed(failure(-32_601, `Unknown method: ${method.slice(0, 100)}`))
  const protocolVersion = versions.find((version) => version === params["protocolVersion"]) ?? versions[0]
  const serverInfo = { name: "catenet", title: `Catenet at ${state.portal.host}`, version: "1" }
  return Effect.succeed({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo, instructions } })
}

const unauthorized = ({ portal }: State, isGiven: boolean) => {
  const fields = [
    ...(isGiven ? ['error="invalid_token"'] : []),
    `resource_metadata="${portal.origin}${metadataPath}"`,
    'scope="openid email"'
  ]
  const message = isGiven
    ? "The access token is not valid, has expired, or is for another resource."
    : "This MCP server needs an access token."
  return json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, 401, {
    "www-authenticate": `Bearer ${fields.join(", ")}`
  })
}

const limited = (retryAfter: number) =>
  Effect.map(
    HttpServerRespondable.toResponse(new RateLimited({ retry_after: retryAfter })),
    HttpServerResponse.setHeader("retry-after", String(retryAfter))
  )

/** What a caller has sent, which is one message. */
const taken = Effect.fnUntraced(function* (state: State, account: Caller["Service"]) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const version = request.headers["mcp-protocol-version"]
  const message = readMessage(yield* Effect.orDie(request.text))
  const refuse = (path: ReadonlyArray<string>, text: string) =>
    HttpServerRespondable.toResponse(new MalformedRequest({ errors: [{ path: [...path], message: text }] }))
  if (Option.isNone(message)) return yield* refuse([], "Expected one JSON-RPC message")
  if (version !== undefined && !versions.includes(version))
    return yield* refuse(["mcp-protocol-version"], `Expected one of ${versions.join(", ")}`)
  const { id, method, params = {} } = message.value
  if (id === undefined || method === undefined) return HttpServerResponse.empty({ status: 202 })
  return json({ jsonrpc: "2.0", id, ...(yield* answer(state, account, method, params)) })
})

const posted = Effect.fnUntraced(function* (state: State) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const now = yield* Clock.currentTimeMillis
  const network = state.budgetKey(request)
  const turn = state.refused.take(network, now, 0)
  if (!turn.allowed) return yield* limited(turn.retryAfter)
  const given = request.headers["authorization"]
  const token = bearerOf(given)
  if (Option.isNone(token)) return unauthorized(state, given !== undefined)
  const caller = yield* Effect.option(callerOf(state, token.value))
  if (Option.isNone(caller)) {
    state.refused.take(network, now)
    return unauthorized(state, true)
  }
  const share = state.calls?.take(`subject ${quotaSubject(caller.value)}`, now)
  if (share?.allowed === false) return yield* limited(share.retryAfter)
  return yield* taken(state, caller.value)
})

const metadata = ({ issuer, resource }: State) =>
  json(
    {
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ["header"],
      scopes_supported: ["openid", "email"],
      resource_name: "Catenet"
    },
    200,
    { "cache-control": "public, max-age=300" }
  )

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const state = yield* dependencies
    yield* router.add("POST", path, state.access.present(posted(state)))
    yield* router.add("GET", metadataPath, state.access.present(Effect.succeed(metadata(state))))
  })
)
