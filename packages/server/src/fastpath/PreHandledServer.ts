/** A server of `node:http` that shows each request to a pre-handler first. What that answers, no listener sees. */
import { HttpServer as Server, IncomingMessage, ServerResponse } from "@catenet/platform/Http"
import type { ServerOptions } from "node:http"
import type { PreHandler } from "./CachedResponses.ts"

export class PreHandledServer<Response extends typeof ServerResponse<IncomingMessage>> extends Server<
  typeof IncomingMessage,
  Response
> {
  readonly preHandler: PreHandler

  constructor(preHandler: PreHandler, options: ServerOptions<typeof IncomingMessage, Response>) {
    super(options)
    this.preHandler = preHandler
  }

  override emit(event: string | symbol, ...args: ReadonlyArray<unknown>): boolean {
    const [request, response] = args
    if (event === "request" && request instanceof IncomingMessage && response instanceof ServerResponse) {
      if (this.preHandler(request, response)) return true
    }
    return super.emit(event, ...args)
  }
}
