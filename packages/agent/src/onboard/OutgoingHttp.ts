/**
 * The agent's HTTP client: no redirects, so no secret goes to another address; responses are limited; it uses the process's
 * proxy.
 */
import { Http } from "@catenet/platform/Http"
import { clientBy, type Fetch, strictFetch } from "@catenet/platform/OutgoingHttp"
import { Effect } from "effect"
import { Readable } from "node:stream"
import type { ReadableStream } from "node:stream/web"
import { createConnection, OutgoingProxy } from "../carrier/OutgoingProxy.ts"

/** Limit of a response in bytes. The longest is a certificate. */
export const longestAnswer = 65_536

type Proxy = NonNullable<Effect.Success<typeof OutgoingProxy>>

/** Statuses without a response body. */
const bodiless = new Set([101, 204, 205, 304])

/** By Node's HTTP client, since `fetch` has no option for the connection. */
const fetchThrough =
  (proxy: Proxy): Fetch =>
  async (input, init) => {
    const asked = new Request(input, init)
    const url = new URL(asked.url)
    const isSecure = url.protocol === "https:"
    const host = url.hostname.replace(/^\[|\]$/gu, "")
    if (proxy.bypasses({ host, port: Number(url.port) || (isSecure ? 443 : 80) })) return Http.fetch(asked)
    const body = asked.body === null ? undefined : Buffer.from(await asked.arrayBuffer())
    return new Promise((resolve, reject) => {
      const sent = (isSecure ? Http.secureRequest : Http.request)(url, {
        method: asked.method,
        headers: Object.fromEntries(asked.headers),
        signal: asked.signal,
        createConnection: createConnection(proxy, { url })
      })
      sent.once("error", reject)
      sent.once("response", (response) => {
        const { statusCode: status = 0, statusMessage = "" } = response
        const headers = new Headers()
        for (const [name, values] of Object.entries(response.headersDistinct))
          for (const value of values ?? []) headers.append(name, value)
        const isEmpty = asked.method === "HEAD" || bodiless.has(status)
        const answer = isEmpty ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array<ArrayBuffer>>)
        if (isEmpty) response.resume()
        resolve(new Response(answer, { status, statusText: statusMessage, headers }))
      })
      sent.end(body)
    })
  }

/** For answers of up to so many bytes; the answer is in memory. */
export const sendForUpTo = (most: number): Effect.Effect<Fetch> =>
  Effect.map(OutgoingProxy, (proxy) => strictFetch(proxy === undefined ? Http.fetch : fetchThrough(proxy), most))

export const send = sendForUpTo(longestAnswer)

export const layer = clientBy(send)

/** For lists of an account, which are as long as its limits permit. */
export const layerForLists = clientBy(sendForUpTo(4_194_304))

/** For services on this machine or beside it: never through a proxy. */
export const layerLocal = clientBy(Effect.succeed(strictFetch(Http.fetch, longestAnswer)))

/** All that an inspector keeps, in base64 and with every sign escaped. */
const longestArchive = 402_653_184

/** For the inspector of an agent on this machine. */
export const layerOfInspector = clientBy(Effect.succeed(strictFetch(Http.fetch, longestArchive)))
