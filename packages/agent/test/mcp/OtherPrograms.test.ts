/** Programs of others at an endpoint, behind a channel and behind a gateway: the protocol's conformance suite, and Vercel's AI SDK. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { agentProgram } from "@catenet/testing/agent/AgentProgram"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { installMcpPrograms } from "../../../../scripts/install.mjs"
import * as Endpoint from "./Endpoint.ts"

const programs = join(import.meta.dirname, "../../../../tools/mcp/node_modules")
const suite = join(programs, ".bin/conformance")
const server = Endpoint.program("McpConformance")

/** What the suite reports of the scenarios at an endpoint. */
const checked = ({ folder, url }: Endpoint.Endpoint, ...more: ReadonlyArray<string>) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve) => {
        const args = [suite, "server", "--url", new URL("/mcp", url).href, ...more]
        execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }, (_, stdout, stderr) =>
          resolve(`${stdout}${stderr}`)
        )
      })
  )

/** A channel whose other member serves the server; the file of this one. */
const channel = Effect.gen(function* () {
  const made = makeChannel()
  const [near, far] = [made.member("initiate"), made.member("accept")]
  const script = { authority: makeAuthority(), channel: made, members: [near, far] }
  const stack = new AsyncDisposableStack()
  yield* Effect.addFinalizer(() => Effect.promise(() => stack.disposeAsync()))
  const home = stack.use(yield* Effect.promise(makeHome))
  const broker = stack.use(yield* Effect.promise(() => startBroker(script)))
  const variables = { ...throughFrontDoor(broker, script, far), CT_CHANNEL_SERVE_CONCURRENCY: "64" }
  stack.use(runAgent(home, variables, ["channel", "serve", "--mcp-command", server]))
  const lines = Object.entries(throughFrontDoor(broker, script, near)).map(([name, value]) => `${name}=${value}\n`)
  const file = join(home.path, "peer.env")
  writeFileSync(file, lines.join(""), { mode: 0o600 })
  return file
})

const agent = (...args: ReadonlyArray<string>) =>
  ["exec", process.execPath, agentProgram, ...args].map((word) => (word === "exec" ? word : `'${word}'`)).join(" ")

beforeAll(() => installMcpPrograms(), 180_000)

/** Processes that are started again and again are compiled once. */
const settings = { isPublic: true, passes: ["NODE_COMPILE_CACHE"] }
const isCampaign = process.env["CATENET_MCP"] !== undefined

describe("the conformance suite of the protocol", () => {
  it.live("passes at a server's endpoint, with the scenarios that it does not run by itself", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(server, settings)
      assert.include(yield* checked(endpoint, "--suite", "all"), "Total: 43 passed, 0 failed")
    })
  )

  it.live.skipIf(!isCampaign)("passes at one behind a channel", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(agent("channel", "mcp", "--config", yield* channel), settings)
      assert.include(yield* checked(endpoint), "Total: 39 passed, 0 failed")
    })
  )

  it.live.each([
    { path: "channel", scenario: "tools-call-with-progress" },
    { path: "channel", scenario: "tools-call-sampling" },
    { path: "channel", scenario: "resources-read-binary" },
    { path: "gateway", scenario: "tools-list" },
    { path: "gateway", scenario: "logging-set-level" }
  ])("passes behind a $path: $scenario", ({ path, scenario }) =>
    Effect.gen(function* () {
      const file = yield* channel
      const command = path === "channel" ? agent("channel", "mcp", "--config", file) : agent("mcp", "gateway", file)
      const endpoint = yield* Endpoint.open(command, settings)
      assert.match(yield* checked(endpoint, "--scenario", scenario), /^Passed: ([1-9]\d*)\/\1, 0 failed/mu)
    })
  )
})

interface AiClient {
  readonly listTools: () => Promise<{ readonly tools: ReadonlyArray<{ readonly name: string }> }>
  readonly callTool: (call: { readonly name: string; readonly arguments: object }) => Promise<{
    readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string }>
    readonly isError?: boolean
  }>
  readonly close: () => Promise<void>
}

const inModule = <A>(path: string) => import(pathToFileURL(join(programs, path)).href) as Promise<A>

describe("the MCP client of the AI SDK", () => {
  it.live.each(["address", "channel", "gateway"] as const)("calls tools at a path: %s", (path) =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(server, { passes: settings.passes })
      const file = path === "address" ? "" : yield* channel
      const args = path === "channel" ? ["channel", "mcp", "--config", file] : ["mcp", "gateway", file]
      const prefix = path === "gateway" ? "peer." : ""
      yield* Effect.promise(async () => {
        const { createMCPClient } = await inModule<{
          createMCPClient: (config: { readonly transport: unknown }) => Promise<AiClient>
        }>("@ai-sdk/mcp/dist/index.js")
        const { Experimental_StdioMCPTransport: Stdio } = await inModule<{
          Experimental_StdioMCPTransport: new (config: object) => unknown
        }>("@ai-sdk/mcp/dist/mcp-stdio/index.js")
        const http = {
          type: "http",
          url: new URL("/mcp", endpoint.url).href,
          headers: { authorization: "Bearer ada" }
        }
        const env = { PATH: process.env["PATH"] ?? "", HOME: endpoint.folder }
        const stdio = { command: process.execPath, args: [agentProgram, ...args], env, stderr: "ignore" }
        const client = await createMCPClient({ transport: path === "address" ? http : new Stdio(stdio) })
        const { tools } = await client.listTools()
        assert.include(
          tools.map(({ name }) => name),
          `${prefix}test_simple_text`
        )
        const call = (name: string) => client.callTool({ name: `${prefix}${name}`, arguments: {} })
        const { content } = await call("test_simple_text")
        assert.strictEqual(content[0]?.text, "This is a simple text response for testing.")
        assert.strictEqual((await call("test_image_content")).content[0]?.type, "image")
        assert.isTrue((await call("test_error_handling")).isError)
        await client.close()
      })
    })
  )
})

const python = fileURLToPath(new URL("../harness/mcp_peer.py", import.meta.url))
const hasPython = spawnSync("python3", ["-c", "import mcp; assert mcp.Client"]).status === 0
if (!hasPython) process.stderr.write("SKIPPED: no python3 with the package mcp 2 is here to call an address\n")

describe.skipIf(!hasPython)("the official SDK of Python", () => {
  it.live.each([
    { mode: "legacy", revision: "2025-11-25" },
    { mode: "auto", revision: "2026-07-28" }
  ])("as a client of $revision reaches every kind of feature at an address", ({ mode, revision }) =>
    Effect.gen(function* () {
      const { url } = yield* Endpoint.open(Endpoint.features)
      const args = [python, "client", mode, new URL("/mcp", url).href, "ada"]
      const { stdout } = yield* Effect.promise(() => promisify(execFile)("python3", args))
      assert.deepStrictEqual(JSON.parse(stdout), {
        revision,
        tools: ["ask", "log", "open", "screenshot", "update", "wait", "weather"],
        sky: { sky: "clear" },
        asked: "Ada,thought,file:///home",
        prompt: "Greet Ada.",
        blob: "ada"
      })
    })
  )
})
