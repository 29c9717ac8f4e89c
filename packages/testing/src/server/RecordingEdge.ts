/** An edge's admin interface that records its orders, and can be away, refuse, or be slow. */
import { Context, Effect, Layer } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { until } from "../Eventually.ts"

export interface Order {
  readonly admin: string | undefined
  readonly token: string | undefined
  readonly path: string
  /** The token that a revoked one has given way to. */
  readonly successor?: string
  readonly body: string
}

export class RecordingEdge extends Context.Service<
  RecordingEdge,
  {
    readonly url: string
    readonly orders: ReadonlyArray<Order>
    /** What it heard of the accounts of tokens. */
    readonly accounts: ReadonlyMap<string, string>
    /** How the edge answers: a status, or not at all. */
    readonly behave: (status: number | "away") => Effect.Effect<void>
    /** How long it waits before it takes an order; a client that has hung up by then has ordered nothing. */
    readonly think: (millis: number) => Effect.Effect<void>
    /** The orders about a token, once there are that many. */
    readonly about: (token: string, count: number) => Effect.Effect<ReadonlyArray<Order>>
  }
>()("test/RecordingEdge") {
  static readonly layer = Layer.effect(
    RecordingEdge,
    Effect.gen(function* () {
      const orders: Array<Order> = []
      const accounts = new Map<string, string>()
      let status: number | "away" = 200
      let thinking = 0
      const server = createServer((request, response) => {
        if (status === "away") return void request.socket.destroy()
        let body = ""
        request.setEncoding("utf8").on("data", (text: string) => (body += text))
        const take = () => {
          if (request.socket.destroyed) return
          const header = (name: string) => request.headers[name]?.toString()
          const path = request.url ?? ""
          const token = header("x-ct-routing-token")
          const account = header("x-ct-owner-account")
          if (token !== undefined && account !== undefined) accounts.set(token, account)
          const successor = header("x-ct-successor-token")
          if (status === 200 && !path.includes("/refused."))
            orders.push({
              admin: header("x-ct-admin-token"),
              token,
              path,
              body,
              ...(successor === undefined ? {} : { successor })
            })
          // A hostname that the edge never takes, for tests of that.
          if (path.includes("/refused.")) return void response.writeHead(400).end()
          response.writeHead(status === "away" ? 500 : status).end()
        }
        request.on("end", () => (thinking === 0 ? take() : setTimeout(take, thinking)))
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => (server.closeAllConnections(), server.close()))
      )
      const of = (token: string) => orders.filter((order) => order.token === token)
      return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        orders,
        accounts,
        behave: (next) => Effect.sync(() => void (status = next)),
        think: (millis) => Effect.sync(() => void (thinking = millis)),
        about: (token, count) =>
          until(
            Effect.sync(() => of(token)),
            (found) => found.length >= count
          )
      }
    })
  )
}
