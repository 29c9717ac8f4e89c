/**
 * `/mcp`: one MCP server for an account, over the streamable HTTP transport without sessions, so that any replica answers. It is a
 * protected resource of OAuth 2.1 (RFC 9728): a token that is made for the portal's host opens it and nothing else, and a token of the
 * account opens it too. It has what is not encrypted between two machines; servers behind channels are reached from the caller's own.
 */
import { quotaSubject } from "@catenet/domain/api/Access"
import { MalformedRequest, RateLimited } from "@catenet/domain/values/RequestErrors"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { ClientAddresses } from "../http/ClientAddresses.ts"
import * as AccountAccess from "../identity/AccountAccess.ts"
import { AccessTokens } from "../identity/AccessTokens.ts"
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

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { oidcIssuer: issuer, portalBaseUrl, requestsPerMinute } = yield* Settings
    const { origin } = portalBaseUrl
    const access = yield* AccountAccess.make
    const tokens = yield* AccessTokens
    const domains = yield* EmailDomains
    const { budgetKey } = yield* ClientAddresses
    const tools = yield* McpTools.make
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    const refused = new TokenBuckets(refusedPerMinute)
    const calls = requestsPerMinute === 0 ? undefined : new TokenBuckets(requestsPerMinute)
    const resource = `${origin}/`
    const listed = tools.map(({ description, inputSchema, name }) => ({
      name,
      description,
      inputSchema,
      annotations: { readOnlyHint: true, openWorldHint: false }
    }))

    /** Of a token for this address, or of one for the account. */
    const callerOf = (token: Redacted.Redacted) =>
      tokens.verifyForResource(token, resource).pipe(
        Effect.tap(({ identity }) => domains.require(identity)),
        Effect.map(({ identity: { maker, subject } }) => ({ subject, email: null, means: "bearer" as const, maker })),
        Effect.catchTag("TokenRefused", () => access.bearer(token))
      )

    const called = Effect.fnUntraced(function* (
      account: Effect.Success<ReturnType<typeof callerOf>>,
      params: Readonly<Record<string, unknown>>
    ) {
      const name = String(params["name"])
      const tool = byName.get(name)
      if (tool === undefined) return failure(-32_602, `Unknown tool: ${name.slice(0, 100)}`)
      return yield* Effect.match(tool.run(account, params["arguments"] ?? {}), {
        onSuccess: resultOf,
        onFailure: ({ message }): Answer => ({ result: { content: [{ type: "text", text: message }], isError: true } })
      })
    })

    const answer = (
      account: Effect.Success<ReturnType<typeof callerOf>>,
      method: string,
      params: Readonly<Record<string, unknown>>
    ): Effect.Effect<Answer, never, HttpServerRequest.HttpServerRequest> => {
      if (method === "tools/call") return called(account, params)
      if (method === "tools/list") return Effect.succeed({ result: { tools: listed } })
      if (method === "ping") return Effect.succeed({ result: {} })
      if (method !== "initialize") return Effect.succeed(failure(-32_601, `Unknown method: ${method.slice(0, 100)}`))
      const protocolVersion = versions.find((version) => version === params["protocolVersion"]) ?? versions[0]
      const serverInfo = { name: "catenet", title: `Catenet at ${portalBaseUrl.host}`, version: "1" }
      return Effect.succeed({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo, instructions } })
    }

    const unauthorized = (isGiven: boolean) => {
      const fields = [
        ...(isGiven ? ['error="invalid_token"'] : []),
        `resource_metadata="${origin}${metadataPath}"`,
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

    const posted = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const now = yield* Clock.currentTimeMillis
      const network = budgetKey(request)
      const turn = refused.take(network, now, 0)
      if (!turn.allowed) return yield* limited(turn.retryAfter)
      const given = request.headers["authorization"]
      const token = bearerOf(given)
      if (Option.isNone(token)) return unauthorized(given !== undefined)
      const caller = yield* Effect.option(callerOf(token.value))
      if (Option.isNone(caller)) {
        refused.take(network, now)
        return unauthorized(true)
      }
      const share = calls?.take(`subject ${quotaSubject(caller.value)}`, now)
      if (share?.allowed === false) return yield* limited(share.retryAfter)
      const version = request.headers["mcp-protocol-version"]
      const message = readMessage(yield* Effect.orDie(request.text))
      const errors = Option.isNone(message)
        ? [{ path: [], message: "Expected one JSON-RPC message" }]
        : version === undefined || versions.includes(version)
          ? []
          : [{ path: ["mcp-protocol-version"], message: `Expected one of ${versions.join(", ")}` }]
      if (Option.isNone(message) || errors.length > 0)
        return yield* HttpServerRespondable.toResponse(new MalformedRequest({ errors }))
      const { id, method, params = {} } = message.value
      if (id === undefined || method === undefined) return HttpServerResponse.empty({ status: 202 })
      return json({ jsonrpc: "2.0", id, ...(yield* answer(caller.value, method, params)) })
    })

    yield* router.add("POST", path, access.present(posted))
    yield* router.add(
      "GET",
      metadataPath,
      access.present(
        Effect.succeed(
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
        )
      )
    )
  })
)
