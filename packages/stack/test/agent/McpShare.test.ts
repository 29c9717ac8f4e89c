/** An MCP server of one machine in a client of another, after three commands and without a key typed by hand: all real. */
import type { Home } from "@catenet/testing/agent/Agent"
import { eventually } from "@catenet/testing/Eventually"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Effect } from "effect"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { ended, home, login, running, stack } from "./AccountStack.ts"

const features = fileURLToPath(new URL("../../../agent/test/harness/McpFeatures.ts", import.meta.url))

/** A client that starts what this entry says. */
const connected = ({ path }: Home, { args, command }: { readonly args: Array<string>; readonly command: string }) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ name: "test", version: "1.0.0" })
      const env = { PATH: process.env["PATH"] ?? "", HOME: path }
      await client.connect(new StdioClientTransport({ command, args, env, cwd: path, stderr: "ignore" }))
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

const weather = (client: Client, name: string) =>
  Effect.promise(async () => {
    const { structuredContent } = await client.callTool({ name, arguments: { city: "Bern" } })
    assert.deepStrictEqual(structuredContent, { sky: "clear" })
  })

layer(stack, { excludeTestServices: true, timeout: "120 seconds" })("an MCP server that is shared", (it) => {
  it.effect("is used on another machine after a login, a share and a line, and again after both were restarted", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* home, yield* home]
      const sharing = ["mcp", "share", "--", process.execPath, features]
      const unknown = yield* ended(one, sharing)
      assert.strictEqual(unknown.code, 3)
      assert.include(unknown.stderr, "ct-agent login")
      assert.isEmpty(readdirSync(one.path).filter((name) => name !== ".ct-agent"))

      yield* login(one, "olga@example.test", [yield* TestServer.baseUrl])
      const line = yield* Effect.gen(function* () {
        const agent = yield* running(one, sharing)
        yield* Effect.promise(() => eventually(() => agent.stdout().includes("\n"), "the line is printed"))
        const [, link = assert.fail(agent.stdout())] = /channel join '(\S+)'\n$/u.exec(agent.stdout()) ?? []
        const joined = yield* ended(other, ["channel", "join", link, "cursor", "--yes"])
        assert.strictEqual(joined.code, 0, joined.stderr)
        const { mcpServers } = JSON.parse(readFileSync(join(other.path, ".cursor", "mcp.json"), "utf8"))
        const client = yield* connected(other, mcpServers.McpFeatures)
        yield* weather(client, "weather")
        return link
      }).pipe(Effect.scoped)
      const file = join(one.path, ".ct-agent", "channels", "share-McpFeatures.env")
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)

      // Another command would give the one who joined another server.
      const others = yield* ended(one, ["mcp", "share", "--", process.execPath, features, "--more"])
      assert.strictEqual(others.code, 3)
      assert.include(others.stderr, "it shares another command")

      const again = yield* running(one, sharing)
      yield* Effect.promise(() => again.said("has been joined already"))
      assert.strictEqual(again.stdout(), "")
      const twice = yield* ended(one, sharing)
      assert.strictEqual(twice.code, 3)
      assert.include(twice.stderr, "another ct-agent shares it already")
      const printed = yield* ended(other, ["channel", "join", line])
      assert.property(JSON.parse(printed.stdout).mcpServers, "McpFeatures")
      const { args } = JSON.parse(printed.stdout).mcpServers.McpFeatures as { args: ReadonlyArray<string> }
      const gateway = { command: process.execPath, args: [...args.slice(0, -4), "mcp", "gateway"] }
      const client = yield* connected(other, gateway)
      yield* Effect.promise(() =>
        eventually(
          async () => (await client.listTools()).tools.some(({ name }) => name === "McpFeatures.weather"),
          "the gateway has found the peer"
        )
      )
      yield* weather(client, "McpFeatures.weather")
    }).pipe(Effect.scoped)
  )

  it.effect("needs a command, a name of letters, and a client that is known", () =>
    Effect.gen(function* () {
      const at = yield* home
      for (const [args, why] of [
        [["mcp", "share"], "ct-agent mcp share -- npx -y some-server"],
        [["mcp", "share", "--name", "a b", "--", "x"], "--name takes up to 32"],
        [["channel", "join", "https://a.test/join#x", "emacs"], "claude (Claude Code), cursor, vscode or codex"]
      ] as const) {
        const { code, stderr } = yield* ended(at, args)
        assert.strictEqual(code, 2, why)
        assert.include(stderr, why)
      }
    })
  )
})
