/** An MCP endpoint as visitors reach it: at a port of its own, behind nothing but the address that the proxy writes. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Effect, Logger, type Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Verdict } from "../../src/mcp/Callers.ts"
import * as McpOrigin from "../../src/mcp/McpOrigin.ts"
import type { McpSettings } from "../../src/settings/McpVariables.ts"

export const program = (name: string) => {
  const path = fileURLToPath(new URL(`../harness/${name}.ts`, import.meta.url))
  return `exec '${process.execPath}' '${path}'`
}
/** A server with every feature of the protocol, and one that knows its process. */
export const features = program("McpFeatures")
export const tools = program("McpServer")

export const resource = "https://tools.test/"

/** The tokens of two accounts that may call, and of one that may not. */
const verdicts: Readonly<Record<string, Verdict>> = {
  ada: { _tag: "Admitted", subject: "1", email: "ada@example.test", client: null, expiresAt: 4_000_000_000 },
  bob: { _tag: "Admitted", subject: "2", email: "bob@example.test", client: null, expiresAt: 4_000_000_000 },
  robot: { _tag: "Admitted", subject: "3", email: null, client: "sa-robot", expiresAt: 4_000_000_000 },
  eve: { _tag: "Forbidden" }
}

export interface Endpoint {
  readonly url: string
  /** Where the server runs. */
  readonly folder: string
  /** Tokens that the control plane was asked about. */
  readonly asked: Array<string>
  /** Lines of its log. */
  readonly logged: Array<string>
  /** It does not answer while this is set. */
  isAway: boolean
}

/** In a folder of its own, where the server may write. */
export const open = (
  command: string,
  settings: Partial<McpSettings> = {}
): Effect.Effect<Endpoint, never, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "ct-mcp-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const endpoint: Endpoint = { url: "", folder, asked: [], logged: [], isAway: false }
    const whole: McpSettings = {
      address: resource,
      isPublic: false,
      isShared: false,
      tools: new Map(),
      passes: [],
      origins: [],
      scopes: [],
      ...settings
    }
    const authority: McpOrigin.Authority = {
      ask: async (token) => {
        endpoint.asked.push(token)
        if (endpoint.isAway) throw new Error("away")
        return verdicts[token] ?? { _tag: "Invalid" }
      },
      issuer: async () => (endpoint.isAway ? undefined : "https://sign-in.test/realms/demo")
    }
    const faults: Array<unknown> = []
    const socket = join(folder, "socket")
    const logger = Logger.make(({ message }) => void endpoint.logged.push([message].flat().map(String).join(" ")))
    const line = `cd '${folder}' && ${command}`
    yield* McpOrigin.open(socket, line, whole, authority, (cause) => faults.push(cause)).pipe(
      Effect.provide(Logger.layer([logger]))
    )
    const server = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const made = createServer((visitor) => {
          const far = connect(socket)
          visitor.on("error", () => far.destroy()).on("close", () => far.destroy())
          far.on("error", () => visitor.destroy()).on("close", () => visitor.destroy())
          visitor.pipe(far).pipe(visitor)
        })
        await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve))
        return made
      }),
      (made) => Effect.sync(() => void made.close())
    )
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        if (faults.length > 0) throw faults[0]
      })
    )
    return Object.assign(endpoint, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  }).pipe(Effect.provide(NodeFileSystem.layer)) as Effect.Effect<Endpoint, never, Scope.Scope>

const bearer = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } })

/** How a client of a revision connects: until 2024-11-05 by another transport. */
export const transport = ({ url }: Pick<Endpoint, "url">, revision: string, token = "ada") =>
  revision === "2024-11-05"
    ? new SSEClientTransport(new URL("/sse", url), bearer(token))
    : new StreamableHTTPClientTransport(new URL("/mcp", url), bearer(token))

interface As {
  readonly token?: string
  readonly revision?: string
  readonly capabilities?: object
  readonly prepare?: (client: Client) => void
}

/** A client of the official SDK, which leaves with the scope. */
export const client = (
  { url }: Endpoint,
  { capabilities = {}, prepare = () => {}, revision = "2025-11-25", token = "ada" }: As = {}
) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const mode = revision >= "2026" ? { pin: revision } : ("legacy" as const)
      const made = new Client({ name: "test", version: "1.0.0" }, { capabilities, versionNegotiation: { mode } })
      prepare(made)
      const transport = new StreamableHTTPClientTransport(new URL("/mcp", url), bearer(token))
      await made.connect(transport as never)
      return { client: made, transport }
    }),
    ({ client: made }) => Effect.promise(() => made.close())
  )

/** A client of the transport of 2024-11-05. */
export const oldClient = ({ url }: Endpoint) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const made = new Client({ name: "old", version: "1.0.0" }, { versionNegotiation: { mode: "legacy" } })
      await made.connect(new SSEClientTransport(new URL("/sse", url), bearer("ada")) as never)
      return made
    }),
    (made) => Effect.promise(() => made.close())
  )

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** One request without the SDK. */
export const send = ({ url }: Endpoint, { body, headers = {}, method = "POST", path = "/mcp", token = "ada" }: Sent) =>
  fetch(new URL(path, url), {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(method === "POST" ? { "content-type": "application/json" } : {}),
      accept: "application/json, text/event-stream",
      ...headers
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })

export const initialize = (version = "2025-11-25") => ({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "raw", version: "1" } }
})

/** A session opened without the SDK; the field that names it. */
export const session = async (endpoint: Endpoint, token = "ada") => {
  const response = await send(endpoint, { body: initialize(), token })
  await response.text()
  const id = response.headers.get("mcp-session-id") ?? ""
  const field = { "mcp-session-id": id }
  await send(endpoint, { body: { jsonrpc: "2.0", method: "notifications/initialized" }, headers: field, token })
  return field
}
