/** What `/network-info` says of QUIC, as real edges say it, and as one of another kind or none does. */
import { program } from "@catenet/testing/edge/QuicMember"
import { until } from "@catenet/testing/Eventually"
import { EdgeProgram } from "@catenet/testing/server/edges/EdgeProgram"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { LiveEdges } from "../../src/edges/LiveEdges.ts"
import { EdgeQuic } from "../../src/observability/EdgeQuic.ts"
import { Settings } from "../../src/settings/Settings.ts"

const server = TestServer.layer({ CT_CP_MESH_EDGE_PORT: "14433" })

const edgeAt = (id: string, url: string, quic: string) =>
  Effect.acquireRelease(
    Effect.promise(() => EdgeProgram.make(id, url, TestServer.adminToken, quic)),
    (edge) => Effect.promise(() => edge.dispose())
  ).pipe(Effect.tap((edge) => Effect.promise(() => edge.start())))

const quicPort = Effect.flatMap(TestServer.client, ({ status }) =>
  Effect.map(status.networkInfo(), ({ mesh_edge_quic_port }) => mesh_edge_quic_port)
)

const answering = (answer: (response: ServerResponse) => void) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        const edge = createServer((_request, response) =>
          answer(response.setHeader("content-type", "application/json"))
        ).listen(0, "127.0.0.1", () => resume(Effect.succeed(edge)))
      }),
      (edge) => Effect.sync(() => (edge.closeAllConnections(), edge.close()))
    ),
    (edge) => `http://127.0.0.1:${(edge.address() as AddressInfo).port}/`
  )

/** What is known of edges at these addresses. */
const listens = (token: string | undefined, ...urls: ReadonlyArray<string>) => {
  const provider = ConfigProvider.fromUnknown({
    CT_CP_DATABASE_URL: "postgres://localhost/none",
    ...(token === undefined ? {} : { CT_CP_EDGE_ADMIN_TOKEN: token })
  })
  const [first = "http://127.0.0.1:9/", ...rest] = urls
  const others = rest.map((url, at) => ({ id: `other-${at}`, url }))
  return Effect.flatMap(EdgeQuic.make, (edges) => edges.listens).pipe(
    Effect.provide([
      Settings.layer.pipe(Layer.provide(ConfigProvider.layer(provider))),
      FetchHttpClient.layer,
      LiveEdges.layerOf({ id: "primary", url: first }, ...others)
    ])
  )
}

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("QUIC in the network information", (it) => {
  it.effect.skipIf(program === undefined)(
    "is the port while every edge listens, 0 while one does not, and left out while one is away",
    () =>
      Effect.gen(function* () {
        assert.isUndefined(yield* quicPort, "no edge is known")
        const url = yield* TestServer.baseUrl
        yield* edgeAt("edge-on", url, "on")
        yield* until(quicPort, (port) => port === 14_433)
        const off = yield* edgeAt("edge-off", url, "off")
        yield* until(quicPort, (port) => port === 0)
        yield* Effect.promise(() => off.kill())
        yield* until(quicPort, (port) => port === undefined)
      }).pipe(Effect.scoped)
  )

  it.effect("is not known of an edge that hangs, refuses, is of another kind or cannot be asked", () =>
    Effect.gen(function* () {
      const [yes, no, hanging, foreign, refusing, odd] = yield* Effect.all([
        answering((response) => response.end('{"listeners":["mesh","channel-relay"]}')),
        answering((response) => response.end('{"listeners":["channel-broker"]}')),
        answering(() => {}),
        answering((response) => response.writeHead(404).end()),
        answering((response) => response.writeHead(401).end()),
        answering((response) => response.end('{"listeners":"mesh"}'))
      ])
      const asked = (...urls: ReadonlyArray<string>) => listens(TestServer.adminToken, ...urls)
      assert.deepStrictEqual(yield* asked(yes), Option.some(true))
      assert.deepStrictEqual(yield* asked(yes, no), Option.some(false))
      for (const silent of [hanging, foreign, refusing, odd, "http://127.0.0.1:9/"]) {
        assert.deepStrictEqual(yield* asked(yes, silent), Option.none(), silent)
        assert.deepStrictEqual(yield* asked(no, silent), Option.some(false))
      }
      assert.deepStrictEqual(yield* listens(undefined, yes), Option.none())
    }).pipe(Effect.scoped)
  )
})
