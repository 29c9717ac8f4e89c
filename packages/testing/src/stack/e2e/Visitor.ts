/** A visitor of a tunnel: a TLS client that trusts one root and dials the front door whatever the name resolves to. */
import type { IncomingHttpHeaders } from "node:http"
import { request as httpsRequest } from "node:https"
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls"
import { eventually } from "../../Eventually.ts"

export interface Target {
  readonly port: number
  readonly host: string
  readonly ca: string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Ask {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  readonly timeout?: number
}

/** One request on a connection of its own. Rejects when the certificate does not verify. */
export const ask = ({ ca, host, port }: Target, { body, headers, method, path, timeout }: Ask = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: "127.0.0.1",
        port,
        servername: host,
        ca,
        agent: false,
        path: path ?? "/",
        method: method ?? "GET",
        headers: { host: `${host}:${port}`, ...headers },
        timeout: timeout ?? 15_000
      },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", reject)
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
        )
      }
    )
    request.on("timeout", () => request.destroy(new Error("no answer in time")))
    request.on("error", reject)
    request.end(body)
  })

/** An open TLS connection through the front door. */
export const dial = ({ ca, host, port }: Target, options: ConnectionOptions = {}): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, servername: host, ca, ...options })
    socket.once("error", reject)
    socket.once("secureConnect", () => {
      socket.off("error", reject)
      resolve(socket)
    })
  })

/** Asks until the tunnel answers 200; resolves with the milliseconds that took. */
export const serves = async (target: Target, within: number): Promise<number> => {
  const from = performance.now()
  let last = "no answer"
  const answers = () =>
    ask(target, { timeout: 2000 }).then(
      ({ status }) => {
        last = `status ${status}`
        return status === 200
      },
      (cause: unknown) => {
        last = String(cause)
        return false
      }
    )
  await eventually(answers, () => `the tunnel serves (${last})`, within)
  return performance.now() - from
}
