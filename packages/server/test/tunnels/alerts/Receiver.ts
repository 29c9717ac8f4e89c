/** A receiver of alerts on this machine that answers as a test says, path by path, and writes down what came. */
import { until } from "@catenet/testing/Eventually"
import { Context, Effect, Layer } from "effect"
import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Arrival {
  readonly path: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Milliseconds, for measuring pauses. */
  readonly at: number
}

export class Receiver extends Context.Service<
  Receiver,
  {
    readonly url: string
    /** The statuses of the next calls to a path, then 204; "silent" never answers. */
    readonly answer: (path: string, ...statuses: ReadonlyArray<number | "silent">) => Effect.Effect<void>
    readonly arrivals: (path: string) => ReadonlyArray<Arrival>
    /** The arrivals at a path, once there are that many. */
    readonly arrived: (path: string, count: number) => Effect.Effect<ReadonlyArray<Arrival>>
  }
>()("test/Receiver") {
  static readonly layer = Layer.effect(
    Receiver,
    Effect.gen(function* () {
      const all: Array<Arrival> = []
      const scripts = new Map<string, Array<number | "silent">>()
      const server = createServer((request, response) => {
        const path = request.url ?? ""
        let body = ""
        request.setEncoding("utf8").on("data", (text: string) => (body += text))
        request.on("end", () => {
          const headers = Object.fromEntries(
            Object.entries(request.headers).map(([name, value]) => [name, String(value)])
          )
          all.push({ path, method: request.method ?? "", headers, body, at: performance.now() })
          const status = scripts.get(path)?.shift() ?? 204
          if (status === "silent") return
          response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end()
        })
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => (server.closeAllConnections(), server.close()))
      )
      const at = (path: string) => all.filter((arrival) => arrival.path === path)
      return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        answer: (path, ...statuses) => Effect.sync(() => void scripts.set(path, [...statuses])),
        arrivals: at,
        arrived: (path, count) =>
          until(
            Effect.sync(() => at(path)),
            (found) => found.length >= count
          )
      }
    })
  )
}

const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text, "utf8")

/** Whether an arrival is signed as the contract says, and as Standard Webhooks says, under the text of the secret. */
export const isSigned = ({ body, headers }: Arrival, secret: string) => {
  const timestamp = headers["x-ct-timestamp"] ?? ""
  const own = `sha256=${hmac(secret, `${timestamp}.${body}`).digest("hex")}`
  const standard = hmac(secret, `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`).digest("base64")
  return headers["x-ct-signature"] === own && headers["webhook-signature"] === `v1,${standard}`
}
