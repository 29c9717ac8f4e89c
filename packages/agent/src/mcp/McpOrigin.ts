/** A stdio MCP server as an origin: its endpoint at a socket in the file system, for as long as the scope is open. */
import type * as Json from "@catenet/crypto/Json"
import { Http, type HttpServer } from "@catenet/platform/Http"
import { Effect, Exit, FiberSet, Scope } from "effect"
import { newest } from "../channel/mcp/McpResult.ts"
import type { Command } from "../channel/serve/HandlerProcess.ts"
import type { McpSettings } from "../settings/McpVariables.ts"
import { version } from "../Version.ts"
import { Callers, type Verdict } from "./Callers.ts"
import * as McpEndpoint from "./McpEndpoint.ts"
import { Unacceptable } from "./RequestBody.ts"
import * as ServerProcess from "./ServerProcess.ts"
import { type Launch, Sessions } from "./Sessions.ts"
import { ToolFilter } from "./ToolFilter.ts"

/** Who knows the callers of a tunnel, where not anyone may call. */
export interface Authority {
  /** Rejects when the control plane does not answer. */
  readonly ask: (token: string) => Promise<Verdict>
  /** The authorization server; undefined while it is not known. */
  readonly issuer: () => Promise<string | undefined>
}

/** Nobody is known, where anyone may call. */
const nobody: Authority = {
  ask: async () => ({ _tag: "Invalid" }),
  issuer: async () => undefined
}

const clientInfo: Json.Json = { name: "ct-agent", version }

export const open = Effect.fn("McpOrigin.open")(function* (
  socket: string,
  line: string,
  settings: McpSettings,
  authority: Authority | undefined,
  onFault: (cause: unknown) => void
) {
  const { address, isPublic, isShared, origins, passes, scopes, tools } = settings
  const command: Command = { line, service: "mcp", passes }
  const scope = yield* Effect.scope
  const run = yield* FiberSet.makeRuntimePromise()
  const fork = yield* FiberSet.makeRuntime()

  const launch: Launch = (use) => {
    const launched = Effect.gen(function* () {
      const own = yield* Scope.fork(scope)
      const server = yield* ServerProcess.start(command, use !== "session").pipe(
        Scope.provide(own),
        Effect.onError(() => Scope.close(own, Exit.void))
      )
      if (use === "shared") yield* Effect.promise(() => server.initialize(newest, clientInfo))
      return { server, close: () => void fork(Scope.close(own, Exit.void)) }
    })
    return run(
      Effect.mapError(launched, ({ message }) => new Unacceptable(502, `The MCP server did not start: ${message}`))
    )
  }

  const sessions = new Sessions(launch, isShared)
  yield* Effect.addFinalizer(() => Effect.sync(() => sessions.close()))
  const filters = new Map([...tools].map(([who, patterns]) => [who, new ToolFilter(patterns)]))
  const { ask, issuer } = authority ?? nobody
  const callers = new Callers({ isPublic, tools: filters, ask })
  const listener = McpEndpoint.make({ sessions, callers, resource: address, issuer, origins, scopes, onFault })
  if (isPublic)
    yield* Effect.logWarning(
      `anyone who knows ${new URL("mcp", address).href} may call this MCP server, with whatever it can do on this machine`
    )
  yield* Effect.acquireRelease(
    Effect.callback<HttpServer>((resume) => {
      const server = Http.server({ keepAliveTimeout: 0 }, listener)
      server.listen(socket, () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => (server.closeAllConnections(), void server.close()))
  )
})
