/** `ct-agent mcp -- COMMAND` on a platform: an application signs its person in by OAuth and calls a server on another machine. */
import { eventually } from "@catenet/testing/Eventually"
import { account, browser, password, portal, Realm, text } from "@catenet/testing/server/gate/SignInServer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, beforeAll, layer } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { decodeJwt } from "jose"
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { installMcpPrograms } from "../../../../scripts/install.mjs"
import { freePort } from "../../src/Ports.ts"
import { AccountEdge, ended, home, login, running, stack } from "./AccountStack.ts"
import { agrees, application, connected, program, proxied, through } from "./McpClients.ts"

const server = fileURLToPath(new URL("../../../agent/test/harness/McpServer.ts", import.meta.url))
const pythonPeer = fileURLToPath(new URL("../../../agent/test/harness/mcp_peer.py", import.meta.url))
const programOf = (name: string) =>
  fileURLToPath(new URL(`../../../../tools/mcp/node_modules/.bin/${name}`, import.meta.url))
/** How long a long call takes: ten minutes in the campaign. */
const callSeconds = Number(process.env["CATENET_MCP_CALL_SECONDS"] ?? 2)
const hasPython = spawnSync("python3", ["-c", "import mcp; assert mcp.Client"]).status === 0
if (!hasPython) process.stderr.write("SKIPPED: no python3 with the package mcp 2 is here to sign a person in\n")
beforeAll(() => installMcpPrograms(), 180_000)

const command = ["--", process.execPath, server]
const textOf = (result: unknown) => (result as { content: ReadonlyArray<{ text: string }> }).content[0]?.text ?? ""

layer(stack, { excludeTestServices: true, timeout: "120 seconds" })("ct-agent mcp -- COMMAND", (it) => {
  it.effect("lets applications call a server after its owner, or somebody on the tunnel's list, has agreed", () =>
    Effect.gen(function* () {
      const at = yield* home
      const edge = yield* AccountEdge
      const { issuer } = yield* Realm
      yield* login(at, "olga@example.test", [yield* TestServer.baseUrl])
      const agent = yield* running(at, ["mcp", "--name", "tools", "--tools", "*=who*", ...command])
      yield* Effect.promise(() => eventually(async () => agent.stdout() !== "", "an address", 30_000))
      const address = agent.stdout().trim()
      assert.match(address, /^https:\/\/tools-[0-9a-f]{8}\.zone\.test\/mcp$/u)
      const resource = new URL("/", address).href
      const { tunnels } = yield* account("olga@example.test")
      const [tunnel] = yield* tunnels.list({ query: {} })
      const { id } = tunnel ?? assert.fail("no tunnel")

      const owner = application("olga@example.test")
      const client = yield* Effect.promise(() =>
        connected(edge, address, owner).catch((error: unknown) =>
          assert.fail(`${String(error)}\n${agent.lines.join("\n")}`)
        )
      )
      const tokens = owner.tokens() ?? assert.fail("no tokens")
      yield* Effect.promise(async () => {
        const consent = owner.returned().pages.at(-1) ?? ""
        assert.include(consent, "“Notes &#38; &#60;b&#62;” wants to use")
        assert.include(consent, new URL(address).host)
        assert.include(consent, "a program on this computer")
        assert.deepStrictEqual(
          (await client.listTools()).tools.map(({ name }) => name),
          ["whoami"]
        )
        assert.match(textOf(await client.callTool({ name: "whoami", arguments: {} })), /^\d+$/u)
        await client.close()
      })
      const claims = decodeJwt(tokens.access_token)
      assert.strictEqual(claims.aud, resource)
      assert.notProperty(claims, "resource_access")

      // Such a token opens nothing else: neither the control plane, nor the provider, nor another host.
      const bearer = { headers: { authorization: `Bearer ${tokens.access_token}` } }
      assert.strictEqual((yield* TestServer.raw("/me/account", bearer)).status, 401)
      yield* Effect.promise(async () => {
        const userinfo = await fetch(`${issuer}/protocol/openid-connect/userinfo`, bearer)
        assert.strictEqual(userinfo.status, 401)
      })
      const other = yield* running(at, ["mcp", "--name", "more", ...command])
      yield* Effect.promise(() => eventually(async () => other.stdout() !== "", "an address", 30_000))
      yield* Effect.promise(async () => {
        const refused = await through(edge)(other.stdout().trim(), { method: "POST", ...bearer })
        assert.strictEqual(refused.status, 401)
        assert.include(refused.headers.get("www-authenticate"), 'error="invalid_token"')
      })
      // Nor does a token for the control plane open a server.
      const stored = yield* ended(at, ["whoami", "--json"])
      assert.strictEqual(stored.code, 0)

      // Somebody else is let in by the tunnel's list alone.
      const vera = application("vera@example.test")
      const refused = yield* Effect.promise(() => connected(edge, address, vera).catch((error: unknown) => error))
      assert.include(String(refused), "may not call this MCP server")
      yield* tunnels.allowVisitor({ params: { id }, payload: { email: "vera@example.test" as never } })
      yield* Effect.promise(async () => {
        const listed = await connected(edge, address, vera)
        assert.strictEqual((await listed.listTools()).tools.length, 1)
        await listed.close()
      })

      // In the portal the owner disconnects the application, which cannot renew its access any more.
      const person = browser()
      yield* person.get(yield* person.signIn("/portal/login", "olga@example.test"))
      const listed = yield* Effect.flatMap(person.get("/portal/account?tab=service-accounts"), text)
      assert.include(listed, "Connected applications")
      assert.include(listed, `Disconnect Notes &#38; &#60;b&#62;`)
      assert.include(listed, resource)
      const cookie = Array.from(person.jars.platform, ([name, value]) => `${name}=${value}`).join("; ")
      const ending = yield* TestServer.raw("/portal/account/applications/end", {
        method: "POST",
        headers: { cookie, origin: portal, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ application: owner.clientId() }).toString(),
        redirect: "manual"
      })
      assert.strictEqual(ending.status, 303)
      assert.notInclude(
        yield* Effect.flatMap(person.get("/portal/account?tab=service-accounts"), text),
        "Disconnect Notes"
      )
      yield* Effect.promise(async () => {
        const renewed = await fetch(`${issuer}/protocol/openid-connect/token`, {
          method: "POST",
          body: new URLSearchParams({
            grant_type: "refresh_token",
            client_id: owner.clientId(),
            refresh_token: tokens.refresh_token ?? ""
          })
        })
        assert.strictEqual(renewed.status, 400)
      })

      const denied = application("eve@example.test", "no")
      yield* Effect.promise(() => connected(edge, address, denied).catch(() => undefined))
      assert.strictEqual(denied.returned().params.get("error"), "access_denied")
      agent.kill("SIGINT")
      assert.strictEqual(yield* Effect.promise(() => agent.exited), 0, agent.lines.join("\n"))
    })
  )

  it.effect("has a counterpart at the portal, which shows an application the account that has agreed", () =>
    Effect.gen(function* () {
      const base = yield* TestServer.baseUrl
      const reach: typeof fetch = (input, init) => {
        const sent = new Request(input, init)
        return fetch(sent.url.startsWith(`${portal}/`) ? new Request(sent.url.replace(portal, base), sent) : sent)
      }
      const { tunnels } = yield* account("vera@example.test")
      const { id } = yield* tunnels.create({ payload: { name: "veras" as never }, headers: {} })
      const edge = yield* AccountEdge
      const app = application("vera@example.test")
      yield* Effect.promise(async () => {
        const client = await connected(edge, `${portal}/mcp`, app, reach)
        assert.include(app.returned().pages.at(-1), new URL(portal).host)
        const answer = await client.callTool({ name: "list_tunnels", arguments: {} })
        const { entries } = answer.structuredContent as { entries: ReadonlyArray<{ id: string; name: string }> }
        assert.deepStrictEqual(
          entries.map((entry) => [entry.id, entry.name]),
          [[id, "veras"]]
        )
        await client.close()
      })
      const bearer = { headers: { authorization: `Bearer ${app.tokens()?.access_token ?? ""}` } }
      assert.strictEqual((yield* TestServer.raw("/me/tunnels", bearer)).status, 401)
    })
  )

  it.effect(
    "lets the MCP inspector, the Python SDK and the TypeScript SDK sign a person in at reference servers",
    () =>
      Effect.gen(function* () {
        const at = yield* home
        const edge = yield* AccountEdge
        yield* login(at, "olga@example.test", [yield* TestServer.baseUrl])
        /** The address of a reference server. */
        const serving = Effect.fnUntraced(function* (name: string, ...args: ReadonlyArray<string>) {
          const started = ["--", process.execPath, programOf(`mcp-server-${name}`), ...args]
          const agent = yield* running(at, ["mcp", "--name", name, ...started])
          yield* Effect.promise(() => eventually(() => agent.stdout() !== "", "an address"))
          return agent.stdout().trim()
        })
        const everything = yield* serving("everything")
        const variables = yield* proxied(edge)
        const olga = { username: "olga@example.test", password }

        const callback = `http://127.0.0.1:${yield* freePort("127.0.0.1")}/oauth/callback`
        const call = ["--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hello"]
        const args = [everything, "--transport", "http", "--callback-url", callback, ...call]
        const inspector = yield* program(process.execPath, [programOf("mcp-inspector"), "--cli", ...args], {
          ...variables,
          HOME: at.path,
          MCP_INSPECTOR_SECRET_STORE: "memory",
          // Without a terminal it asks a browser or nobody. This one does nothing: the test reads where it was sent.
          MCP_AUTO_OPEN_ENABLED: "true",
          BROWSER: "true"
        })
        yield* Effect.promise(async () => {
          const page = await inspector.said(/Please navigate to: (\S+)/u)
          const { address: returned, pages } = await agrees(new URL(page), olga, "yes", callback)
          assert.include(pages.at(-1), new URL(everything).host)
          assert.isBelow((await fetch(returned)).status, 400)
          assert.strictEqual(await inspector.ended, 0, inspector.all())
          assert.strictEqual(textOf(JSON.parse(inspector.stdout())), "Echo: hello")
        })
        if (hasPython) {
          const python = yield* program("python3", [pythonPeer, "oauth", everything], variables)
          yield* Effect.promise(async () => {
            const page = await python.said(/^(http\S+)$/mu)
            python.type(`${(await agrees(new URL(page), olga, "yes")).address}\n`)
            assert.strictEqual(await python.ended, 0, python.all())
            const said = JSON.parse(python.stdout().trim().split("\n").at(-1) ?? "")
            assert.include(said.tools, "get-sum")
            assert.strictEqual(said.echo, "Echo: hello")
          })
        }

        const files = yield* serving("filesystem", at.path)
        yield* Effect.promise(async () => {
          const client = await connected(edge, files, application("olga@example.test"))
          const path = join(at.path, "note.txt")
          await client.callTool({ name: "write_file", arguments: { path, content: "through the tunnel" } })
          assert.strictEqual(readFileSync(path, "utf8"), "through the tunnel")
          await client.close()

          // In the campaign the access token expires during the call.
          const caller = await connected(edge, everything, application("olga@example.test"))
          const progress: Array<number> = []
          const steps = callSeconds
          const long = { name: "trigger-long-running-operation", arguments: { duration: steps, steps } }
          const answer = await caller.callTool(long, {
            onprogress: ({ progress: at }) => void progress.push(at),
            resetTimeoutOnProgress: true,
            maxTotalTimeout: 10 * 60_000 + steps * 1000
          })
          assert.include(textOf(answer), "Long running operation completed")
          await eventually(() => progress.length > 0 && progress.at(-1) === steps, "its last progress is seen")
          await caller.close()
        })
      }),
    180_000 + callSeconds * 1000
  )

  it.effect("needs a command, flags that can be read, and says who may call a public one", () =>
    Effect.gen(function* () {
      const at = yield* home
      for (const [args, said] of [
        [["mcp"], "ct-agent mcp needs the command of an MCP server after --"],
        [["mcp", "--tools", "read_*", ...command], "--tools takes WHO=TOOL,TOOL"],
        [["mcp", "--allow-origin", "https://a.test/x", ...command], "--allow-origin takes origins such as"],
        [["mcp", "--scope", "two words", ...command], "--scope takes names of scopes"],
        [["mcp", "--host", "*.dev.example.test", ...command], "--host *.dev.example.test stands for many names"],
        [["mcp", "--env", "NOT_SET_HERE", ...command], "--env names NOT_SET_HERE, which is not set"]
      ] as const) {
        const { code, stderr } = yield* ended(at, args)
        assert.deepStrictEqual([code, stderr.includes(said)], [2, true], stderr)
      }
      yield* login(at, "eve@example.test", [yield* TestServer.baseUrl])
      const open = yield* running(at, ["mcp", "--public", "--rm", ...command])
      yield* Effect.promise(() => open.said("may call this MCP server, with whatever it can do on this machine"))
    })
  )

  it.effect("is a service of a file, with its options", () =>
    Effect.gen(function* () {
      const at = yield* home
      const edge = yield* AccountEdge
      const url = yield* TestServer.baseUrl
      yield* login(at, "vera@example.test", [url])
      const service = {
        mcp: command.slice(1).join(" "),
        mcp_public: true,
        mcp_share: true,
        mcp_tools: { "*": ["who*"] }
      }
      const file = { control_plane: url, services: { notes: service } }
      writeFileSync(join(at.path, "ct-agent.json"), JSON.stringify(file))
      const agent = yield* running(at, ["--config", "ct-agent.json"])
      const line = yield* Effect.promise(() => agent.said("may call this MCP server, with whatever"))
      const address = /https:\/\/notes-[0-9a-f]{8}\.zone\.test\/mcp/u.exec(line)?.[0] ?? assert.fail(line)
      yield* Effect.promise(async () => {
        const opened = async () => {
          const client = new Client({ name: "any", version: "1.0.0" }, { versionNegotiation: { mode: "legacy" } })
          await client.connect(new StreamableHTTPClientTransport(new URL(address), { fetch: through(edge) }) as never)
          return client
        }
        let client: Client | undefined
        await eventually(
          async () => (client = await opened().catch(() => undefined)) !== undefined,
          "the service is reached"
        )
        assert.deepStrictEqual(
          (await client?.listTools())?.tools.map(({ name }) => name),
          ["whoami"]
        )
        await client?.close()
      })
    })
  )
})
