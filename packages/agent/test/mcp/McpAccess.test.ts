/** Who may call the endpoint of an MCP server, from where, and with what. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Endpoint from "./Endpoint.ts"

const call = (id: number, name: string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: {} }
})

describe("a call of an MCP endpoint", () => {
  it.live("needs a token that the control plane admits, and says where to get one", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(Endpoint.tools)
      yield* Effect.promise(async () => {
        const metadata = "/.well-known/oauth-protected-resource"
        const challenge = `resource_metadata="https://tools.test${metadata}", scope="openid email"`
        const without = await Endpoint.send(endpoint, { body: Endpoint.initialize(), token: null })
        assert.deepStrictEqual([without.status, without.headers.get("www-authenticate")], [401, `Bearer ${challenge}`])
        const wrong = await Endpoint.send(endpoint, { body: Endpoint.initialize(), token: "mallory" })
        assert.deepStrictEqual(
          [wrong.status, wrong.headers.get("www-authenticate")],
          [401, `Bearer error="invalid_token", ${challenge}`]
        )
        const forbidden = await Endpoint.send(endpoint, { body: Endpoint.initialize(), token: "eve" })
        assert.strictEqual(forbidden.status, 403)
        assert.include(await forbidden.text(), "may not call this MCP server")
        for (const path of [metadata, `${metadata}/mcp`]) {
          const known = await Endpoint.send(endpoint, { method: "GET", path, token: null })
          assert.deepStrictEqual(await known.json(), {
            resource: Endpoint.resource,
            authorization_servers: ["https://sign-in.test/realms/demo"],
            bearer_methods_supported: ["header"],
            scopes_supported: ["openid", "email"]
          })
        }
        // What was said of a token holds while the control plane is away.
        assert.strictEqual((await Endpoint.send(endpoint, { body: Endpoint.initialize() })).status, 200)
        endpoint.isAway = true
        assert.strictEqual((await Endpoint.send(endpoint, { body: Endpoint.initialize() })).status, 200)
        assert.strictEqual((await Endpoint.send(endpoint, { body: Endpoint.initialize(), token: "bob" })).status, 503)
        assert.strictEqual((await Endpoint.send(endpoint, { method: "GET", path: metadata })).status, 503)
        assert.strictEqual(endpoint.asked.filter((token) => token === "ada").length, 1)
      })
    })
  )

  it.live("is refused by a precise status where it is malformed, and reaches no process", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open("echo started > started; exec cat")
      yield* Effect.promise(async () => {
        const modern = (method: string, params: object = {}) => ({
          jsonrpc: "2.0",
          id: 1,
          method,
          params: { ...params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }
        })
        const now = { "mcp-protocol-version": "2026-07-28" }
        const refused: ReadonlyArray<readonly [number, Parameters<typeof Endpoint.send>[1]]> = [
          [404, { path: "/" }],
          [404, { path: "/mcp/x", method: "GET" }],
          [405, { method: "PUT" }],
          [405, { path: "/messages", method: "GET" }],
          [415, { body: Endpoint.initialize(), headers: { "content-type": "text/plain" } }],
          [406, { body: Endpoint.initialize(), headers: { accept: "application/json" } }],
          [406, { method: "GET", headers: { accept: "text/html" } }],
          [400, { method: "GET" }],
          [404, { method: "GET", headers: { "mcp-session-id": "none" } }],
          [404, { method: "DELETE", headers: { "mcp-session-id": "none" } }],
          [404, { path: "/messages?sessionId=none", body: call(1, "a") }],
          [400, { body: "{" }],
          [400, { body: "[]" }],
          [400, { body: { id: 1 } }],
          [400, { body: call(1, "a") }],
          [404, { body: call(1, "a"), headers: { "mcp-session-id": "none" } }],
          [400, { body: [Endpoint.initialize(), call(2, "a")] }],
          [400, { body: Endpoint.initialize(), headers: { "mcp-session-id": "some" } }],
          [400, { body: modern("tools/list") }],
          [400, { body: modern("tools/list"), headers: now }],
          [400, { body: modern("tools/list"), headers: { ...now, "mcp-method": "tools/call" } }],
          [400, { body: modern("tools/call", { name: "a" }), headers: { ...now, "mcp-method": "tools/call" } }],
          [
            400,
            {
              body: modern("tools/call", { name: "a" }),
              headers: { ...now, "mcp-method": "tools/call", "mcp-name": "b" }
            }
          ],
          [413, { body: " ".repeat(16 * 1024 * 1024 + 1) }],
          [403, { body: Endpoint.initialize(), headers: { origin: "https://evil.test" } }],
          [403, { body: Endpoint.initialize(), headers: { origin: "null" } }]
        ]
        for (const [status, sent] of refused) {
          const response = await Endpoint.send(endpoint, sent)
          const said = await response.text()
          assert.strictEqual(response.status, status, `${JSON.stringify(sent).slice(0, 200)}: ${said}`)
          assert.match(said, /^\{"jsonrpc":"2.0","error":\{"code":-\d+,"message":"[^"]+/u)
        }
        assert.isFalse(existsSync(join(endpoint.folder, "started")))
      })
    })
  )

  it.live("may come from pages of its own host, of the visitor's machine and of origins that are named", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(Endpoint.tools, { origins: ["https://app.test"] })
      yield* Effect.promise(async () => {
        for (const origin of ["https://tools.test", "http://localhost:6274", "https://app.test"]) {
          const asks = await Endpoint.send(endpoint, { method: "OPTIONS", token: null, headers: { origin } })
          assert.strictEqual(asks.status, 204)
          assert.strictEqual(asks.headers.get("access-control-allow-origin"), origin)
          assert.include(asks.headers.get("access-control-allow-headers"), "Mcp-Session-Id")
          const refused = await Endpoint.send(endpoint, { body: {}, token: null, headers: { origin } })
          assert.include(refused.headers.get("access-control-expose-headers"), "WWW-Authenticate")
        }
      })
    })
  )

  it.live("sees and reaches only the tools that its caller may use", () =>
    Effect.gen(function* () {
      const lists = new Map([
        ["bob@example.test", ["we*"]],
        ["sa-robot", ["log", "update"]],
        ["*", ["none"]]
      ])
      const endpoint = yield* Endpoint.open(Endpoint.features, { tools: lists })
      for (const revision of ["2025-11-25", "2026-07-28"])
        for (const [token, expected] of [
          ["bob", ["weather"]],
          ["robot", ["log", "update"]],
          ["ada", []]
        ] as const) {
          const { client } = yield* Endpoint.client(endpoint, { token, revision })
          yield* Effect.promise(async () => {
            const listed = (await client.listTools()).tools.map(({ name }) => name)
            assert.deepStrictEqual(listed.toSorted(), [...expected], token)
            const failed = await client.callTool({ name: "open", arguments: {} }).catch((error: Error) => error)
            assert.include(String(failed), "Unknown tool: open")
          })
        }
    })
  )

  it.live("asks for the scopes by which a provider makes tokens for its host", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(Endpoint.tools, { scopes: ["mcp-tools"] })
      yield* Effect.promise(async () => {
        const refused = await Endpoint.send(endpoint, { body: Endpoint.initialize(), token: null })
        assert.include(refused.headers.get("www-authenticate"), 'scope="openid email mcp-tools"')
        const path = "/.well-known/oauth-protected-resource"
        const known = await Endpoint.send(endpoint, { method: "GET", path, token: null })
        assert.deepInclude(await known.json(), { scopes_supported: ["openid", "email", "mcp-tools"] })
      })
    })
  )

  it.live("needs no token where anyone may call", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(Endpoint.tools, { isPublic: true })
      yield* Effect.promise(async () => {
        const response = await Endpoint.send(endpoint, { body: Endpoint.initialize(), token: null })
        assert.strictEqual(response.status, 200)
        assert.deepStrictEqual(endpoint.asked, [])
      })
    })
  )
})
