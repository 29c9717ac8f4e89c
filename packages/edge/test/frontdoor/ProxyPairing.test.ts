import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { createServer, type RequestListener } from "node:http"
import { createServer as createTcpServer, type Server } from "node:net"
import * as ProxyPairing from "../../src/frontdoor/ProxyPairing.ts"
import { Settings } from "../../src/settings/Settings.ts"

const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly host: string; readonly port: number }>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed({ host: "127.0.0.1", port: typeof address === "object" ? (address?.port ?? 0) : 0 }))
      })
    }),
    () => Effect.sync(() => server.close())
  )

const answering = (answer: RequestListener) => listening(createServer(answer))

/** As Keycloak with `proxy-protocol-enabled`: a connection without the header is closed, with it one gets HTTP. */
const demanding = listening(
  createTcpServer((socket) => {
    socket
      .on("error", () => {})
      .once("data", (head: Buffer) => {
        if (head.subarray(0, 4).equals(Buffer.from("0d0a0d0a", "hex"))) socket.end("HTTP/1.1 404 Not Found\r\n\r\n")
        else socket.destroy()
      })
  })
)

const hosts = [
  ["portal", "CT_EDGE_PORTAL_PROXY_PROTOCOL"],
  ["identityProvider", "CT_EDGE_AUTH_PROXY_PROTOCOL"]
] as const

const checked = (name: string, { host, port }: { readonly host: string; readonly port: number }, speaks: boolean) => {
  const pair = { certificate: "portal.pem", key: "portal.key" }
  const served = { host: "portal.example.test", upstream: { host, port }, pair, proxyProtocol: speaks }
  return Effect.exit(ProxyPairing.check).pipe(
    Effect.provideService(Settings, { [name]: served } as unknown as Settings["Service"])
  )
}

const why = (exit: Exit.Exit<unknown, { readonly message: string }>) =>
  Exit.isFailure(exit) ? String(exit.cause) : "starts"

describe.each(hosts)("the upstream of the %s's name", (name, variable) => {
  const expectsNone = new RegExp(`${variable}.*is on, but .* expects no PROXY v2`, "u")
  const expectsIt = new RegExp(`${variable}.*is off, but .* expects PROXY v2`, "u")

  it.live("must expect PROXY v2 from an edge that speaks it", () =>
    Effect.gen(function* () {
      // A server that expects no PROXY v2 reads its signature as a request.
      const plain = yield* answering((_request, response) => void response.end())
      assert.match(why(yield* checked(name, plain, true)), expectsNone)
      assert.strictEqual(why(yield* checked(name, plain, false)), "starts")
    }).pipe(Effect.scoped)
  )

  it.live("must not expect PROXY v2 from an edge that does not speak it", () =>
    Effect.gen(function* () {
      const marking = yield* answering(
        (_request, response) => void response.setHeader("x-ct-proxy-protocol", "expected").end()
      )
      assert.match(why(yield* checked(name, marking, false)), expectsIt)
      const strict = yield* demanding
      assert.match(why(yield* checked(name, strict, false)), expectsIt)
      assert.strictEqual(why(yield* checked(name, strict, true)), "starts")
    }).pipe(Effect.scoped)
  )

  it.live("is not judged where it does not answer", () =>
    Effect.gen(function* () {
      for (const speaks of [true, false])
        assert.strictEqual(why(yield* checked(name, { host: "127.0.0.1", port: 1 }, speaks)), "starts")
    })
  )
})
