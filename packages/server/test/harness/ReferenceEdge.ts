/**
 * An edge of the reference kind, as spec and installed edges have it: orders name their tunnel in the path alone, errors are
 * short plain text, and a restart leaves the host names and forgets their tiers.
 */
import { Effect } from "effect"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

const hex = /^[0-9a-f]{64}$/u

export const start = (adminToken: string) =>
  Effect.gen(function* () {
    const hosts = new Map<string, { readonly token: string; readonly tier: "gelb" | "passthrough" }>()
    const revoked = new Set<string>()
    const asked: Array<string> = []
    const waiting: Array<() => void> = []
    let mode: "works" | "away" | "refuses to authorize" | "holds what authorizes" = "works"

    const answer = (response: ServerResponse, status: number, body = "") =>
      void response
        .writeHead(status, { "content-type": body.startsWith("[") ? "application/json" : "text/plain" })
        .end(body)

    const server = createServer((request, response) => {
      request.resume()
      if (mode === "away") return void request.socket.destroy()
      const { pathname, searchParams } = new URL(request.url ?? "", "http://edge")
      asked.push(`${request.method} ${pathname}`)
      if (request.headers["x-ct-admin-token"] !== adminToken) return answer(response, 401)
      const [, route, what = "", token = "", host = ""] = pathname.split("/")
      const key = `${request.method} /${route}/${what}`
      if (key === "GET /admin/host-auth-dump")
        return answer(
          response,
          200,
          JSON.stringify([...hosts].map(([hostname, of]) => ({ hostname, token: of.token })))
        )
      if (!hex.test(token)) return answer(response, 404, "not found")
      if (key === "POST /admin/revoke") {
        revoked.add(token)
        return answer(response, 200)
      }
      if (key !== "POST /admin/authorize-host" || host === "")
        return key === "GET /admin/tunnel-status" ? answer(response, 200, "{}") : answer(response, 404, "not found")
      const take = () => {
        if (mode === "refuses to authorize") return answer(response, 503, "store is locked")
        hosts.set(host, { token, tier: searchParams.get("channel_tier") === "gelb" ? "gelb" : "passthrough" })
        answer(response, 200)
      }
      if (mode === "holds what authorizes") waiting.push(take)
      else take()
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => (server.closeAllConnections(), server.close()))
    )
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      hosts,
      revoked,
      /** Every request, in its order. */
      asked,
      behave: (next: typeof mode) => {
        mode = next
        if (next !== "holds what authorizes") for (const take of waiting.splice(0)) take()
      },
      restart: () => {
        for (const [host, { token }] of hosts) hosts.set(host, { token, tier: "passthrough" })
      }
    }
  })
