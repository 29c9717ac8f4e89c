/**
 * Calls of an MCP tool by the official client: at the server itself, through a channel, at the endpoint of `ct-agent mcp` without a
 * tunnel in front of it, and through other makers' proxies to HTTP, where they are on the path. All are open at once and measured in
 * turns.
 */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { agentProgram } from "@catenet/testing/agent/AgentProgram"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort } from "../src/Ports.ts"
import { median, percentile, type Row } from "./Report.ts"

const server = fileURLToPath(new URL("../../agent/test/harness/McpServer.ts", import.meta.url))
const rounds = 5
const millis = 1_000
const searchPath = process.env["PATH"] ?? ""

interface Way {
  readonly name: string
  readonly client: Client
}

const connected = async (transport: StdioClientTransport | StreamableHTTPClientTransport) => {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "legacy" } })
  await client.connect(transport)
  return client
}

/** The endpoint as another process. */
const endpoint = async (stack: AsyncDisposableStack): Promise<Way> => {
  const program = fileURLToPath(new URL("data/mcpEndpoint.ts", import.meta.url))
  const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "ignore"] })
  stack.defer(() => void child.kill())
  const [url] = (await once(child.stdout, "data")) as ReadonlyArray<Buffer>
  const client = await connected(new StreamableHTTPClientTransport(new URL("/mcp", String(url).trim())))
  stack.defer(() => client.close())
  return { name: "ct-agent mcp", client }
}

/** The proxy of this name, which listens at a port, if it is installed. */
const proxied = async (name: string, args: (port: number) => ReadonlyArray<string>, stack: AsyncDisposableStack) => {
  const program = searchPath
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))
  if (program === undefined) {
    process.stderr.write(`SKIPPED: ${name} is not on the path, so nothing is compared with it.\n`)
    return []
  }
  const port = await Effect.runPromise(freePort("127.0.0.1"))
  const child = spawn(process.execPath, [program, ...args(port)], { stdio: "ignore" })
  stack.defer(() => void child.kill())
  for (let tries = 0; ; tries++) {
    try {
      const client = await connected(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
      stack.defer(() => client.close())
      return [{ name, client }]
    } catch (error) {
      if (tries === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** Milliseconds of each call of a round. */
const round = async ({ client }: Way, atOnce: number) => {
  const times: Array<number> = []
  const end = performance.now() + millis
  const calling = async () => {
    while (performance.now() < end) {
      const from = performance.now()
      await client.callTool({ name: "whoami", arguments: {} })
      times.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, calling))
  return times
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  await using stack = new AsyncDisposableStack()
  const home = stack.use(await makeHome())
  const channel = makeChannel()
  const [near, far] = [channel.member("initiate"), channel.member("accept")]
  const script = { authority: makeAuthority(), channel, members: [near, far] }
  const broker = stack.use(await startBroker(script))
  const command = `exec '${process.execPath}' '${server}'`
  stack.use(runAgent(home, throughFrontDoor(broker, script, far), ["channel", "serve", "--mcp-command", command]))
  const stdio = async (args: Array<string>, env: Readonly<Record<string, string>> = {}) => {
    const place = { cwd: home.path, env: { PATH: searchPath, HOME: home.path, ...env }, stderr: "ignore" as const }
    const client = await connected(new StdioClientTransport({ command: process.execPath, args, ...place }))
    stack.defer(() => client.close())
    return client
  }
  const own: ReadonlyArray<Way> = [
    { name: "the server itself", client: await stdio([server]) },
    { name: "channel", client: await stdio([agentProgram, "channel", "mcp"], throughFrontDoor(broker, script, near)) }
  ]
  const gateway = (port: number) => [
    "--stdio",
    command,
    "--outputTransport",
    "streamableHttp",
    "--stateful",
    "--port",
    String(port)
  ]
  const proxy = (port: number) => ["--port", String(port), "--server", "stream", process.execPath, server]
  const ways = [
    ...own,
    await endpoint(stack),
    ...(await proxied("supergateway", gateway, stack)),
    ...(await proxied("mcp-proxy", proxy, stack))
  ]
  const found: Array<Row> = []
  for (const atOnce of [1, 16, 64]) {
    const seen = ways.map((): Array<ReadonlyArray<number>> => [])
    for (let turn = 0; turn <= rounds; turn++)
      for (const [index, way] of ways.entries()) {
        const times = await round(way, atOnce)
        // The first turn warms up.
        if (turn > 0) seen[index]?.push(times)
      }
    const rate = (index: number) => median((seen[index] ?? []).map((times) => (times.length * 1000) / millis))
    for (const [index, { name }] of ways.entries()) {
      const times = (seen[index] ?? []).flat()
      const note = `p50 ${percentile(times, 0.5).toFixed(2)} ms, p99 ${percentile(times, 0.99).toFixed(2)} ms`
      const row = { name: `tools/call, ${atOnce} at once, ${name}`, value: rate(index), unit: "calls/s", note }
      found.push(index === 0 ? row : { ...row, ratio: rate(index) / rate(0), against: "the server itself" })
    }
  }
  return found
}
