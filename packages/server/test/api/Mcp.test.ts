/** `/mcp`: what programs that speak MCP get of an account, and that nobody gets anything of another one. */
import * as McpOverHttp from "@catenet/testing/agent/McpOverHttp"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { pageSize } from "../../src/api/McpTools.ts"

const server = (variables: Readonly<Record<string, string>>) =>
  Layer.unwrap(
    Effect.map(TestIssuer, ({ issuer }) =>
      TestServer.layer({ CT_OIDC_ISSUER: issuer, CT_OIDC_ACCESS_AUD: "catenet", ...variables })
    )
  ).pipe(Layer.provideMerge(TestIssuer.layer))

const resource = "https://localhost/"
const metadata = "/.well-known/oauth-protected-resource/mcp"
const tokenOf = (sub: string, aud: string = resource) => TestIssuer.use(({ token }) => token({ sub, aud }))

const post = (body: unknown, headers: Readonly<Record<string, string>>) =>
  TestServer.raw("/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body)
  })
const ping = { jsonrpc: "2.0", id: 1, method: "ping" }
const as = (token: string) => ({ authorization: `Bearer ${token}` })

const made = Effect.fnUntraced(function* (sub: string, path: string, body: object) {
  const headers = { ...as(yield* tokenOf(sub, "catenet")), "content-type": "application/json" }
  const response = yield* TestServer.raw(path, { method: "POST", headers, body: JSON.stringify(body) })
  assert.isBelow(response.status, 300, path)
  const text = yield* Effect.promise(() => response.text())
  return JSON.parse(text === "" ? "{}" : text) as Readonly<Record<string, unknown>>
})

const connected = Effect.fnUntraced(function* (sub: string, aud?: string) {
  const url = `${yield* TestServer.baseUrl}/mcp`
  const token = yield* tokenOf(sub, aud)
  return yield* Effect.acquireRelease(
    Effect.promise(() => McpOverHttp.connected(url, token)),
    (client) => Effect.promise(() => client.close())
  )
})

const channel = "ab".repeat(32)

layer(server({}), { excludeTestServices: true, timeout: "60 seconds" })("the MCP server of an account", (it) => {
  it.effect("says where tokens come from, and takes those for its host or the account alone", () =>
    Effect.gen(function* () {
      const naked = yield* post(ping, {})
      assert.strictEqual(naked.status, 401)
      assert.include(naked.headers.get("www-authenticate"), `resource_metadata="https://localhost${metadata}"`)
      assert.notInclude(naked.headers.get("www-authenticate"), "invalid_token")
      const described = yield* TestServer.raw(metadata)
      const known = yield* Effect.promise(() => described.json() as Promise<object>)
      const { issuer } = yield* TestIssuer
      assert.deepInclude(known, { resource, authorization_servers: [issuer] })
      for (const aud of [resource, "https://localhost", "catenet"])
        assert.strictEqual((yield* post(ping, as(yield* tokenOf("ada", aud)))).status, 200, aud)
      for (const aud of ["https://tools.zone.example/", "account", ["catenet", resource] as unknown as string]) {
        const { headers, status } = yield* post(ping, as(yield* tokenOf("ada", aud)))
        const isAccounts = typeof aud !== "string"
        assert.strictEqual(status, isAccounts ? 200 : 401, String(aud))
        if (!isAccounts) assert.include(headers.get("www-authenticate"), 'error="invalid_token"')
      }
      const elsewhere = yield* TestServer.raw("/me/tunnels", { headers: as(yield* tokenOf("ada")) })
      assert.strictEqual(elsewhere.status, 401)
    })
  )

  it.effect("shows the official client what is the account's, and nothing of another one's", () =>
    Effect.gen(function* () {
      const operator = { operator_pubkey: "cd".repeat(32) }
      const own = yield* made("ada", "/me/tunnels", { name: "adas" })
      const other = yield* made("eve", "/me/tunnels", { name: "eves" })
      yield* made("eve", "/me/channels", { channel, ...operator })
      const client = yield* connected("ada")
      assert.include(client.getInstructions(), "ct-agent mcp gateway")
      const { tools } = yield* Effect.promise(() => client.listTools())
      assert.isTrue(tools.every(({ annotations }) => annotations?.readOnlyHint === true))
      const call = (name: string, args: Record<string, unknown> = {}) =>
        Effect.promise(() => client.callTool({ name, arguments: args }))
      const ids = { id: String(other["id"]), channel }
      for (const { inputSchema, name } of tools) {
        const [argument] = (inputSchema["required"] as ReadonlyArray<"id" | "channel"> | undefined) ?? []
        if (argument === undefined) {
          const answer = yield* call(name)
          assert.isUndefined(answer.isError, name)
          assert.notInclude(JSON.stringify(answer), String(other["id"]), name)
          assert.notInclude(JSON.stringify(answer), channel, name)
          continue
        }
        const absent = ids[argument].replaceAll(/./gu, "e")
        const [theirs, nothing] = [
          yield* call(name, { [argument]: ids[argument] }),
          yield* call(name, { [argument]: absent })
        ]
        assert.isTrue(theirs.isError, name)
        assert.deepStrictEqual(theirs, nothing, name)
      }
      const { structuredContent } = yield* call("list_tunnels")
      const { entries } = structuredContent as { readonly entries: ReadonlyArray<object> }
      assert.deepInclude(entries[0], { id: own["id"], name: "adas" })
      assert.lengthOf(entries, 1)
      assert.deepInclude((yield* call("get_tunnel", { id: own["id"] })).structuredContent, { name: "adas" })
      assert.isUndefined((yield* call("tunnel_uptime", { id: own["id"] })).isError)
      const theirs = yield* connected("eve", "catenet")
      const found = yield* Effect.promise(() => theirs.callTool({ name: "get_channel", arguments: { channel } }))
      assert.deepInclude(found.structuredContent, { channel, ...operator })
    }).pipe(Effect.scoped)
  )

  it.effect(`answers ${pageSize} entries of a list, and the next with from`, () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const insert = SqlClient.SqlClient.use(
        (sql) => sql`insert into tunnels (id, subject, name, routing_token, created_at)
          select lpad(to_hex(n), 32, '0'), 'many', 't' || n, lpad(to_hex(n), 64, '0'), n
          from generate_series(1, ${pageSize + 1}) n`
      )
      yield* Effect.orDie(Effect.provide(insert, PgClient.layer({ url, maxConnections: 1 })))
      const client = yield* connected("many")
      const page = (from: unknown) =>
        Effect.promise(() => client.callTool({ name: "list_tunnels", arguments: { from } })).pipe(
          Effect.map(({ isError, structuredContent }) => {
            const { entries = [], next_from } = (structuredContent ?? {}) as {
              readonly entries?: ReadonlyArray<object>
              readonly next_from?: number
            }
            return { isError, entries: entries.length, next_from }
          })
        )
      assert.deepStrictEqual(yield* page(0), { isError: undefined, entries: pageSize, next_from: pageSize })
      assert.deepStrictEqual(yield* page(pageSize), { isError: undefined, entries: 1, next_from: undefined })
      assert.isTrue((yield* page(-1)).isError)
    }).pipe(Effect.scoped)
  )

  it.effect("refuses what is no message, method, tool or revision of its own", () =>
    Effect.gen(function* () {
      const headers = as(yield* tokenOf("ada"))
      for (const body of ["", "{", "[]", [ping], { ...ping, jsonrpc: "1.0" }, { ...ping, params: 1 }])
        assert.strictEqual((yield* post(body, headers)).status, 400, JSON.stringify(body))
      assert.strictEqual((yield* post(ping, { ...headers, "mcp-protocol-version": "2020-01-01" })).status, 400)
      assert.strictEqual((yield* post({ jsonrpc: "2.0", method: "notifications/initialized" }, headers)).status, 202)
      assert.strictEqual((yield* TestServer.raw("/mcp", { headers })).status, 405)
      const codeOf = Effect.fnUntraced(function* (message: object) {
        const response = yield* post({ ...ping, ...message }, headers)
        return yield* Effect.promise(async () => ((await response.json()) as { error: { code: number } }).error.code)
      })
      assert.strictEqual(yield* codeOf({ method: "resources/list" }), -32_601)
      assert.strictEqual(yield* codeOf({ method: "tools/call", params: { name: "drop" } }), -32_602)
      assert.strictEqual((yield* post({ ...ping, params: { pad: "x".repeat(17_000) } }, headers)).status, 413)
    })
  )
})

const perMinute = 40

layer(server({ CT_CP_REQUESTS_PER_MIN: String(perMinute) }), { excludeTestServices: true, timeout: "60 seconds" })(
  "the calls of MCP",
  (it) => {
    /** How many were answered before the first that was not, which says when to come again. */
    const answered = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>>) {
      for (let n = 0; n < 1000; n++) {
        const response = yield* post(ping, headers)
        if (response.status !== 429) continue
        assert.match(response.headers.get("retry-after") ?? "", /^\d+$/u)
        return n
      }
      return assert.fail("none was refused")
    })

    it.effect("are as many as its share for one account, and another account's are answered", () =>
      Effect.gen(function* () {
        assert.isAtLeast(yield* answered(as(yield* tokenOf("busy"))), perMinute)
        assert.strictEqual((yield* post(ping, as(yield* tokenOf("calm")))).status, 200)
      })
    )

    it.effect("that bring tokens that are refused are 30 a minute from one network", () =>
      Effect.gen(function* () {
        assert.isAtLeast(yield* answered(as("wrong")), 30)
      })
    )
  }
)
