/** The features of MCP, each tried by an official client at `McpFeatures.ts`, and the table of docs/mcp.md that says where each passes. */
import { eventually } from "@catenet/testing/Eventually"
import { assert } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { readFileSync } from "node:fs"
import { join } from "node:path"

export const textOf = (result: unknown): string | undefined =>
  (result as { content: ReadonlyArray<{ text: string }> }).content[0]?.text

/** A client of a revision, and what the server has notified it of. */
export interface Connected {
  readonly client: Client
  readonly isModern: boolean
  readonly updated: Array<string>
  readonly logged: Array<unknown>
  /** In front of the names of tools and prompts. */
  readonly prefix: string
}

/** A URI of the server as the client knows it. */
const uriOf = ({ prefix }: Connected, uri: string) => (prefix === "" ? uri : `catenet://${prefix.slice(0, -1)}/${uri}`)

/** Connects with handlers for all that a server may ask. */
export const connectedBy = async (
  revision: string,
  transport: Parameters<Client["connect"]>[0],
  prefix = ""
): Promise<Connected> => {
  const isModern = revision >= "2026"
  const [updated, logged]: [Array<string>, Array<unknown>] = [[], []]
  const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } }
  const versions = isModern
    ? { versionNegotiation: { mode: { pin: revision } } }
    : { versionNegotiation: { mode: "legacy" as const }, supportedProtocolVersions: [revision] }
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities, ...versions })
  client.setRequestHandler("elicitation/create", ({ params }) =>
    params.mode === "url" ? { action: "decline" } : { action: "accept", content: { name: "Ada" } }
  )
  client.setRequestHandler("sampling/createMessage", () => ({
    model: "m",
    role: "assistant",
    content: { type: "text", text: "thought" }
  }))
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///home" }] }))
  client.setNotificationHandler("notifications/message", ({ params }) => void logged.push(params.data))
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updated.push(params.uri))
  await client.connect(transport)
  return { client, isModern, updated, logged, prefix }
}

/** Starts this program as a client would, or calls an address. */
export const connected = (
  revision: string,
  start: URL | { readonly args: Array<string>; readonly env: Record<string, string>; readonly cwd: string },
  prefix = ""
): Promise<Connected> => {
  if (start instanceof URL) return connectedBy(revision, new StreamableHTTPClientTransport(start), prefix)
  const maxBufferSize = 32 * 1024 * 1024
  const place = { command: process.execPath, stderr: "ignore" as const, maxBufferSize, ...start }
  return connectedBy(revision, new StdioClientTransport(place), prefix)
}

const call = ({ client, prefix }: Connected, name: string, args: Record<string, unknown> = {}) =>
  client.callTool({ name: `${prefix}${name}`, arguments: args })

/** By feature, as the table names it. */
export const probes: Readonly<Record<string, (session: Connected) => Promise<void>>> = {
  "the server's name and instructions": async ({ client }) => {
    assert.strictEqual(client.getServerVersion()?.name, "features")
    assert.strictEqual(client.getInstructions(), "Ask before you look.")
    assert.containsAllKeys(client.getServerCapabilities(), ["tools", "resources", "prompts", "completions", "logging"])
  },
  tools: async (session) => {
    const { tools } = await session.client.listTools()
    const names = tools.map(({ name }) => name)
    for (const name of ["ask", "weather"]) assert.include(names, `${session.prefix}${name}`)
    assert.strictEqual(textOf(await call(session, "weather", { city: "Bern" })), "Bern")
  },
  "the agent's own tools": async (session) => {
    const { tools } = await session.client.listTools()
    assert.include(
      tools.map(({ name }) => name),
      `${session.prefix}ping`
    )
    assert.include(textOf(await call(session, "ping")), "pong")
  },
  "screenshots, of 9 MiB too": async (session) => {
    // The official client on stdio copies what it has again with each part that comes, so the large one is tried once for each path.
    const size = session.client.getNegotiatedProtocolVersion() === "2025-11-25" ? "9" : "1"
    const { content } = await call(session, "screenshot", { size })
    assert.strictEqual(Buffer.from((content[0] as { data: string }).data, "base64").length, Number(size) * 2 ** 20)
  },
  "structured results": async (session) => {
    const { tools } = await session.client.listTools()
    assert.isDefined(tools.find(({ name }) => name === `${session.prefix}weather`)?.outputSchema)
    const { structuredContent } = await call(session, "weather", { city: "Bern" })
    assert.deepStrictEqual(structuredContent, { sky: "clear" })
  },
  "elicitation by a form, sampling, roots": async (session) => {
    assert.strictEqual(textOf(await call(session, "ask")), "Ada,thought,file:///home")
  },
  "elicitation by a URL": async (session) => {
    assert.strictEqual(textOf(await call(session, "open")), "decline")
  },
  "progress and cancellation": async ({ client, prefix }) => {
    const abort = new AbortController()
    const progress: Array<unknown> = []
    const options = { signal: abort.signal, onprogress: ({ message = "" }) => void progress.push(message) }
    const waiting = client.callTool({ name: `${prefix}wait`, arguments: {} }, options).then(
      () => "answered",
      () => "cancelled"
    )
    await eventually(() => progress.length > 0, "progress comes")
    abort.abort()
    assert.strictEqual(await waiting, "cancelled")
  },
  "resources, of 9 MiB too": async (session) => {
    const { client } = session
    const uri = uriOf(session, "note://one")
    const { resources } = await client.listResources()
    assert.include(
      resources.map((each) => each.uri),
      uri
    )
    const { contents } = await client.readResource({ uri })
    assert.strictEqual(contents[0]?.uri, uri)
    assert.strictEqual((contents[0] as { blob: string }).blob.length, 12 * 1024 * 1024)
  },
  "resource templates and completion": async (session) => {
    const { client } = session
    const uri = uriOf(session, "note://of/{name}")
    const { resourceTemplates } = await client.listResourceTemplates()
    assert.include(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      uri
    )
    const { contents } = await client.readResource({ uri: uri.replace("{name}", "ada") })
    assert.deepInclude(contents[0], { blob: "ada" })
    const ref = { type: "ref/resource" as const, uri }
    const { completion } = await client.complete({ ref, argument: { name: "name", value: "al" } })
    assert.deepStrictEqual(completion.values, ["alan"])
  },
  prompts: async ({ client, prefix }) => {
    const name = `${prefix}greet`
    const { prompts } = await client.listPrompts()
    assert.deepStrictEqual(
      prompts.map((each) => each.name),
      [name]
    )
    const { messages } = await client.getPrompt({ name, arguments: { name: "Ada" } })
    assert.deepStrictEqual(messages[0]?.content, { type: "text", text: "Greet Ada." })
  },
  "log messages": async ({ client, isModern, logged, prefix }) => {
    if (!isModern) await client.setLoggingLevel("warning")
    const _meta = isModern ? { "io.modelcontextprotocol/logLevel": "warning" } : {}
    await client.callTool({ name: `${prefix}log`, arguments: {}, _meta })
    await eventually(() => logged.length > 0, "the message comes")
    assert.deepStrictEqual(logged, ["it rains"])
  },
  "subscriptions to resources": async (session) => {
    const uri = uriOf(session, "note://one")
    if (session.isModern) await session.client.listen({ resourceSubscriptions: [uri] })
    else await session.client.subscribeResource({ uri })
    await call(session, "update")
    await eventually(() => session.updated.length > 0, "the notification comes")
    assert.deepStrictEqual(session.updated, [uri])
  }
}

const page = readFileSync(join(import.meta.dirname, "../../../../docs/mcp.md"), "utf8")
const cellsOf = (line: string) =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim())
const [head = [], , ...rows] = page
  .slice(page.indexOf("## What passes"))
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map(cellsOf)

/** Each feature with a sentence on what the table says of it in this column. */
export const column = (title: string): ReadonlyArray<readonly [rule: string, feature: string, passes: boolean]> => {
  assert.deepStrictEqual(
    rows.map(([feature]) => feature),
    Object.keys(probes)
  )
  const at = head.indexOf(title)
  assert.isAbove(at, 0, title)
  return rows.map(([feature = "", ...cells]) => {
    const passes = cells[at - 1] === "yes"
    return [passes ? `has ${feature}` : `has no ${feature}`, feature, passes]
  })
}

/** Tries a feature that passes, or does not. */
export const tried = async (session: Connected, feature: string, passes: boolean): Promise<void> => {
  const probe = probes[feature] ?? assert.fail(feature)
  if (passes) return probe(session)
  const failed = await probe(session).then(
    () => false,
    () => true
  )
  assert.isTrue(failed, `${feature} passes, and the table says that it does not`)
}
