import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { createServer, type RequestListener } from "node:http"
import * as PortalPairing from "../../src/frontdoor/PortalPairing.ts"
import { Settings } from "../../src/settings/Settings.ts"

const upstreamOf = (answer: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly host: string; readonly port: number; readonly close: () => void }>((resume) => {
      const server = createServer(answer)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" ? (address?.port ?? 0) : 0
        resume(Effect.succeed({ host: "127.0.0.1", port, close: () => server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const checked = (upstream: { readonly host: string; readonly port: number }, proxyProtocol: boolean) => {
  const { host, port } = upstream
  const pair = { certificate: "portal.pem", key: "portal.key" }
  const portal = { host: "portal.example.test", upstream: { host, port }, pair, proxyProtocol }
  return Effect.exit(PortalPairing.check).pipe(
    Effect.provideService(Settings, { portal } as unknown as Settings["Service"])
  )
}

const why = (exit: Exit.Exit<unknown, { readonly message: string }>) =>
  Exit.isFailure(exit) ? String(exit.cause) : "starts"

describe("the control plane behind the portal's name", () => {
  it.live("must expect PROXY v2 from an edge that speaks it", () =>
    Effect.gen(function* () {
      // A server that expects no PROXY v2 reads its signature as a request.
      const plain = yield* upstreamOf((_request, response) => void response.end())
      assert.match(why(yield* checked(plain, true)), /CT_EDGE_PORTAL_PROXY_PROTOCOL.*expects no PROXY v2/u)
      assert.strictEqual(why(yield* checked(plain, false)), "starts")
    }).pipe(Effect.scoped)
  )

  it.live("must not expect PROXY v2 from an edge that does not speak it", () =>
    Effect.gen(function* () {
      const expecting = yield* upstreamOf(
        (_request, response) => void response.setHeader("x-ct-proxy-protocol", "expected").end()
      )
      assert.match(why(yield* checked(expecting, false)), /CT_EDGE_PORTAL_PROXY_PROTOCOL.*expects PROXY v2 from it/u)
    }).pipe(Effect.scoped)
  )

  it.live("is not judged where it does not answer", () =>
    Effect.gen(function* () {
      for (const proxyProtocol of [true, false])
        assert.strictEqual(why(yield* checked({ host: "127.0.0.1", port: 1 }, proxyProtocol)), "starts")
    })
  )
})
