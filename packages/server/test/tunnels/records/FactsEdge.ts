/** An edge's admin interface whose tunnels are as a test says, which records its orders. */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { TunnelFigures } from "@catenet/domain/tunnels/TunnelTraffic"
import { until } from "@catenet/testing/Eventually"
import { Context, Effect, Layer } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Session {
  readonly connected_at: number
  readonly disconnected_at: number | null
  readonly bytes_in?: number
  readonly bytes_out?: number
}

export interface Facts {
  readonly connected?: boolean
  /** What the echo finds; an edge of before says nothing of it. */
  readonly reach?: typeof Reachability.Encoded
  /** Of the agents that serve it; an edge of before leaves them out. */
  readonly versions?: ReadonlyArray<string>
  /** Newest first; "none" for an edge that keeps no history. */
  readonly sessions?: ReadonlyArray<Session> | "none"
  /** What the edge tells of thirty days where it is asked; without it an edge of before. */
  readonly figures?: typeof TunnelFigures.Encoded
  readonly uptime?: { readonly h24: number; readonly d7: number; readonly d30: number }
  /** The receipts page as the edge writes it, or the status that it answers instead. */
  readonly receipts?: string | number
}

export interface Order {
  readonly token: string
  readonly path: string
  readonly body: string
}

export class FactsEdge extends Context.Service<
  FactsEdge,
  {
    readonly url: string
    /** How the tunnel of a token is from now on; what is left out is as for a tunnel without visits. */
    readonly tunnel: (token: string, facts: Facts) => Effect.Effect<void>
    /** The key under which the edge signs receipts; without one it writes none. */
    readonly signs: (key: string | undefined) => Effect.Effect<void>
    readonly away: (away: boolean) => Effect.Effect<void>
    /** An edge of before: it has no route for the histories of many tunnels, and none for the holders on many channels. */
    readonly before: (before: boolean) => Effect.Effect<void>
    /** The paths that were asked since this was looked at before. */
    readonly paths: Effect.Effect<ReadonlyArray<string>>
    /** How often the edge was asked for the status of a token. */
    readonly asked: (token: string) => number
    /** What the edge was ordered for a token, once the last of it was sent to this path. */
    readonly ordersUntil: (token: string, path: string) => Effect.Effect<ReadonlyArray<Order>>
    /** The access policies that the edge was ordered for a token, once there are that many. */
    readonly policies: (token: string, count: number) => Effect.Effect<ReadonlyArray<unknown>>
  }
>()("test/FactsEdge") {
  static readonly layer = Layer.effect(
    FactsEdge,
    Effect.gen(function* () {
      const tunnels = new Map<string, Facts>()
      const asked = new Map<string, number>()
      const orders: Array<Order> = []
      let isAway = false
      let isBefore = false
      const paths: Array<string> = []
      let receiptKey: string | undefined
      const status = ({ connected = false, reach, versions }: Facts) => ({
        ...(versions === undefined ? {} : { agent_versions: versions }),
        ...(reach === undefined ? {} : { reach }),
        connected,
        registrations: connected ? 1 : 0,
        fallback_parked: 0,
        bytes_received: 0,
        bytes_sent: 0,
        direct: false,
        connected_since: null,
        last_seen: null
      })
      const history = (
        { figures, sessions = [], uptime = { h24: 0, d7: 0, d30: 0 } }: Facts,
        limit: number,
        isAsked: boolean
      ) =>
        sessions === "none"
          ? undefined
          : {
              open: sessions.some(({ disconnected_at }) => disconnected_at === null),
              uptime,
              ...(isAsked && figures !== undefined ? { figures } : {}),
              sessions: sessions.slice(0, limit).map((session) =>
                Object.assign(
                  {
                    transport: "quic",
                    reason: session.disconnected_at === null ? null : "registration-closed",
                    bytes_in: 0,
                    bytes_out: 0
                  },
                  session
                )
              )
            }
      const server = createServer((request, response) => {
        if (isAway) return void request.socket.destroy()
        const url = new URL(request.url ?? "", "http://edge.test")
        paths.push(url.pathname)
        const token = request.headers["x-ct-routing-token"]?.toString() ?? ""
        const facts = tunnels.get(token) ?? {}
        const answer = (value: unknown) =>
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
        const disabled = {
          type: "urn:catenet:problem:history-disabled",
          title: "History disabled",
          status: 404,

          code: "HistoryDisabled",
          detail: "This edge keeps no session history."
        }
        const receiptsDisabled = {
          type: "urn:catenet:problem:receipts-disabled",
          title: "Receipts disabled",
          status: 404,
          code: "ReceiptsDisabled",
          detail: "This edge writes no receipts."
        }
        let body = ""
        request.setEncoding("utf8").on("data", (text: string) => (body += text))
        request.on("end", () => {
          // One that has such routes tells figures too.
          const isWithoutFigures = ({ figures, sessions = [] }: Facts) => sessions.length > 0 && figures === undefined
          const isOlder = isBefore || (body.includes('"figures":true') && [...tunnels.values()].some(isWithoutFigures))
          if (isOlder && /(?:history|presence)\/bulk$/u.test(url.pathname))
            return void response
              .writeHead(404, { "content-type": "application/problem+json" })
              .end(JSON.stringify({ ...disabled, code: "RouteNotFound" }))
          if (url.pathname === "/internal/tunnel/history/bulk") {
            const asked = JSON.parse(body) as { tokens: ReadonlyArray<string>; limit: number; figures?: boolean }
            const found = asked.tokens.map((each) => ({
              each,
              known: history(tunnels.get(each) ?? {}, asked.limit, asked.figures === true)
            }))
            if (found.some(({ known }) => known === undefined))
              return void response
                .writeHead(404, { "content-type": "application/problem+json" })
                .end(JSON.stringify(disabled))
            return void answer(found.map(({ each, known }) => Object.assign({ token: each }, known)))
          }
          if (url.pathname === "/internal/channel/presence/bulk") {
            const { channels } = JSON.parse(body) as { channels: ReadonlyArray<string> }
            const holders = [{ holder: "ab".repeat(32), parked_now: true, last_seen_secs_ago: 7 }]
            return void answer(channels.map((channel) => ({ channel, holders })))
          }
          if (url.pathname === "/admin/tunnel-status/bulk") {
            const { tokens } = JSON.parse(body) as { tokens: ReadonlyArray<string> }
            return void answer(tokens.map((each) => Object.assign(status(tunnels.get(each) ?? {}), { token: each })))
          }
          if (url.pathname === "/internal/tunnel/sums/bulk") {
            const { tokens } = JSON.parse(body) as { tokens: ReadonlyArray<string> }
            const nothing = { visitors: 0, bytes_in: 0, bytes_out: 0 }
            return void answer(
              tokens.map((token) => {
                const { bytes_in, bytes_out, visitors } = tunnels.get(token)?.figures ?? nothing
                return { token, bytes_in, bytes_out, visitors }
              })
            )
          }
          if (url.pathname === "/admin/tunnel-status") {
            asked.set(token, (asked.get(token) ?? 0) + 1)
            return void answer(status(facts))
          }
          if (url.pathname === "/internal/tunnel/history") {
            const found = history(
              facts,
              Number(url.searchParams.get("limit") ?? 20),
              url.searchParams.get("figures") === "1"
            )
            if (found !== undefined) return void answer(found)
            return void response
              .writeHead(404, { "content-type": "application/problem+json" })
              .end(JSON.stringify(disabled))
          }
          if (url.pathname === "/internal/tunnel/receipts") {
            const page = facts.receipts ?? 404
            if (typeof page === "number") return void response.writeHead(page).end()
            return void response.writeHead(200, { "content-type": "application/json" }).end(page)
          }
          if (url.pathname === "/internal/receipts/pubkey") {
            if (receiptKey !== undefined) return void answer({ alg: "ed25519", pubkey: receiptKey, edge_id: "primary" })
            return void response
              .writeHead(404, { "content-type": "application/problem+json" })
              .end(JSON.stringify(receiptsDisabled))
          }
          if (url.pathname.startsWith("/internal/channel/presence/")) {
            return void answer({ holders: [{ holder: "ab".repeat(32), parked_now: true, last_seen_secs_ago: 7 }] })
          }
          orders.push({ token, path: url.pathname, body })
          response.writeHead(200).end()
        })
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => (server.closeAllConnections(), server.close()))
      )
      const ordered = (token: string): ReadonlyArray<unknown> =>
        orders
          .filter((order) => order.token === token && order.path === "/internal/tunnel/access-policy")
          .map(({ body }): unknown => JSON.parse(body))
      return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        tunnel: (token, facts) => Effect.sync(() => void tunnels.set(token, facts)),
        signs: (key) => Effect.sync(() => void (receiptKey = key)),
        before: (before) => Effect.sync(() => void (isBefore = before)),
        paths: Effect.sync(() => paths.splice(0)),
        away: (away) => Effect.sync(() => void (isAway = away)),
        asked: (token) => asked.get(token) ?? 0,
        ordersUntil: (token, path) =>
          until(
            Effect.sync(() => orders.filter((order) => order.token === token)),
            (found) => found.at(-1)?.path === path
          ),
        policies: (token, count) =>
          until(
            Effect.sync(() => ordered(token)),
            (found) => found.length >= count
          )
      }
    })
  )
}
