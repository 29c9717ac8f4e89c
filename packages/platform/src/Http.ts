/**
 * HTTP of Node, over plain connections and over TLS, for code that needs more of a connection than `fetch` offers, and `fetch`. A seam (see
 * `Seam`); servers listen to nothing until they are told to. The classes and the table above do no I/O of their own.
 */
import * as http from "node:http"
import * as https from "node:https"

export { IncomingMessage, METHODS, Server as HttpServer, ServerResponse, STATUS_CODES } from "node:http"

export interface Http {
  readonly fetch: typeof globalThis.fetch
  readonly request: typeof http.request
  readonly secureRequest: typeof https.request
  readonly server: typeof http.createServer
  readonly secureServer: typeof https.createServer
}

export const Http: Http = {
  fetch: (input, init) => globalThis.fetch(input, init),
  request: http.request,
  secureRequest: https.request,
  server: http.createServer,
  secureServer: https.createServer
}
