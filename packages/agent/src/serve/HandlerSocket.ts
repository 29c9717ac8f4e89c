/** An HTTP handler of this program, served at a socket in a folder that no other user can open: the program listens at no port. */
import { Http } from "@catenet/platform/Http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, FileSystem, type Scope } from "effect"
import { HttpEffect, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { RequestListener } from "node:http"
import { join } from "node:path"

export type FetchHandler = (request: Request) => Response | Promise<Response>
type Responding<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
export type Handler<E = never, R = never> = FetchHandler | RequestListener | Responding<E, R>
/** What a handler of Effect needs from the program. */
export type Needs<R> = Exclude<R, HttpServerRequest.HttpServerRequest | Scope.Scope>

const isNode = (handler: FetchHandler | RequestListener): handler is RequestListener => handler.length > 1

const listenerOf = Effect.fnUntraced(function* <E, R>(handler: Handler<E, R>) {
  if (!Effect.isEffect(handler) && isNode(handler)) return handler
  const scope = yield* Effect.scope
  const responding = Effect.isEffect(handler) ? handler : HttpEffect.fromWebHandler(async (request) => handler(request))
  return yield* NodeHttpServer.makeHandler<R | HttpServerRequest.HttpServerRequest, unknown>(responding, { scope })
})

/** The address of the socket; it is gone with the scope. */
export const open = Effect.fn("HandlerSocket.open")(function* <E, R>(handler: Handler<E, R>) {
  const fs = yield* FileSystem.FileSystem
  const path = join(yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "ct-agent-" })), "service")
  const server = Http.server(yield* listenerOf(handler))
  const listening = Effect.callback<void>((resume) => {
    server.once("error", (error) => resume(Effect.die(error)))
    server.listen(path, () => resume(Effect.void))
  })
  yield* Effect.acquireRelease(listening, () =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
  return `unix:${path}`
})
