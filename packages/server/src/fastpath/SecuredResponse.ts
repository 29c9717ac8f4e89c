/**
 * The answers of our server: each has a name and the security headers. They are added where the head is written, so
 * that no answer can be without them and none is copied for it. A page brings its own content policy and caching, which
 * are kept.
 */
import { ServerResponse } from "@catenet/platform/Http"
import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from "node:http"

const standard: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin"
}

const overHttps = { ...standard, "strict-transport-security": "max-age=31536000; includeSubDomains" }

/** Of an origin of this kind. */
export const securityHeaders = (https: boolean): Readonly<Record<string, string>> => (https ? overHttps : standard)

type Given = OutgoingHttpHeaders | Array<OutgoingHttpHeader> | undefined

interface Options {
  readonly https: boolean
  readonly nameOf: (given: unknown) => string
  /** Whether the server takes connections; one that stops says in each answer that the connection ends with it. */
  readonly isOpen: () => boolean
}

/** The class of answers for a server at an origin of this kind. */
export const securedResponses = (options: Options) => {
  const always = securityHeaders(options.https)
  return class SecuredResponse extends ServerResponse<IncomingMessage> {
    readonly requestId = options.nameOf(this.req.headers["x-request-id"])

    override writeHead(status: number, second?: string | Given, third?: Given): this {
      // Bodies bring their own length; while it is checked again, Node sends head and body in two pieces.
      this.strictContentLength = false
      if (!options.isOpen()) this.shouldKeepAlive = false
      const given = typeof second === "object" ? second : third
      if (Array.isArray(given)) return super.writeHead(status, given)
      const headers: OutgoingHttpHeaders = { ...always, ...given, "x-request-id": this.requestId }
      return super.writeHead(status, headers)
    }
  }
}

/** The name of the request that this answers. */
export const requestIdOf = (response: object): string =>
  "requestId" in response && typeof response.requestId === "string" ? response.requestId : ""

/** Gives a request of a foreign server its name. */
export const nameRequest = (response: object, requestId: string): void => void Object.assign(response, { requestId })
