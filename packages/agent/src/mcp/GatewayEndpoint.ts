/**
 * A gateway as an HTTP endpoint of this machine alone. Each client's session has a gateway of its own, because what the peers' servers
 * ask is for one client. Pages of other machines are refused by their origin, and by the name in the Host field (DNS rebinding).
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Http } from "@catenet/platform/Http"
import { Effect, FiberSet } from "effect"
import { PassThrough, type Readable, type Writable } from "node:stream"
import { Callers } from "./Callers.ts"
import * as McpEndpoint from "./McpEndpoint.ts"
import { ServerProcess } from "./ServerProcess.ts"
import { type Launch, Sessions } from "./Sessions.ts"

const ended = "the gateway has ended"
/** A session without a connection keeps a place at each peer, which has eight: it ends sooner than one with a server of its own. */
const idleMillis = 60_000

/** Listens until the scope closes, and returns the address; `serve` is one gateway, until its client closes `stdin`. */
export const open = Effect.fn("GatewayEndpoint.open")(function* <R>(
  port: number,
  serve: (stdin: Readable, stdout: Writable) => Effect.Effect<void, never, R>,
  onFault: (cause: unknown) => void
) {
  const fork = yield* FiberSet.makeRuntime<R>()
  const launch: Launch = async (use) => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    const server = new ServerProcess({ stdin, stdout }, use !== "session", () => undefined)
    fork(
      Effect.ensuring(
        serve(stdin, stdout),
        Effect.sync(() => server.over(ended))
      )
    )
    return { server, close: () => void stdin.end() }
  }
  const sessions = new Sessions(launch, false, idleMillis)
  yield* Effect.addFinalizer(() => Effect.sync(() => sessions.close()))
  const server = Http.server({ keepAliveTimeout: 0 })
  yield* Effect.addFinalizer(() => Effect.sync(() => (server.closeAllConnections(), void server.close())))
  yield* Effect.callback<void, ConfigurationInvalid>((resume) => {
    server.once("error", ({ message }) =>
      resume(
        Effect.fail(
          ConfigurationInvalid.of("--http", `: port ${port} cannot be opened (${message})`, "give another one")
        )
      )
    )
    server.listen(port, "127.0.0.1", () => resume(Effect.void))
  })
  const bound = server.address()
  const own = typeof bound === "object" && bound !== null ? bound.port : port
  const resource = `http://127.0.0.1:${own}/`
  const callers = new Callers({ isPublic: true, tools: new Map(), ask: async () => ({ _tag: "Invalid" }) })
  const answer = McpEndpoint.make({
    sessions,
    callers,
    resource,
    issuer: async () => undefined,
    origins: [],
    scopes: [],
    onFault
  })
  const hosts = new Set([`127.0.0.1:${own}`, `localhost:${own}`])
  server.on("error", onFault)
  server.on("request", (request, response) => {
    if (hosts.has(request.headers.host ?? "")) return answer(request, response)
    response.writeHead(421, { "content-type": "text/plain" }).end(`This server answers to 127.0.0.1:${own} alone.\n`)
  })
  return new URL("mcp", resource).href
})
