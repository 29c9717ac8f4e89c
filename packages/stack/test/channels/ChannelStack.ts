/** A control plane, two edges that are one room for channels, and a relay node behind the gates of both: all real, in this process. */
import { start, temporaryFolder, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { Way } from "@catenet/testing/server/edges/EdgeProgram"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { Context, Effect, Layer } from "effect"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import * as RelayNode from "../../../agent/src/channel/node/RelayNode.ts"
import { AgentMetrics } from "../../../agent/src/observe/AgentMetrics.ts"
import { freePort } from "../../src/Ports.ts"

/** Where the control plane reaches the first edge, which is started after it. */
const adminPort = Effect.runSync(Effect.cached(freePort("127.0.0.1")))

export const controlPlane = Layer.unwrap(
  Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    return TestServer.layer({
      CT_OIDC_ISSUER: issuer,
      CT_CP_EDGE_ADMIN_URL: `http://127.0.0.1:${yield* adminPort}`
    })
  })
).pipe(Layer.provideMerge(TestIssuer.layer))

/** The way of the edges to the control plane, which can be cut. */
const away = Effect.acquireRelease(
  Effect.gen(function* () {
    const way = new Way(Number(new URL(yield* TestServer.baseUrl).port))
    return { way, url: `http://127.0.0.1:${yield* Effect.promise(way.open)}` }
  }),
  ({ way }) => Effect.sync(() => way.close())
)

interface Surroundings {
  /** Of the control plane. */
  readonly url: string
  readonly node: number
}

const edge = Effect.fn("edge")(function* (id: string, { node, url }: Surroundings, admin: number, root?: string) {
  const folder = yield* temporaryFolder
  // All edges of an operator share the root.
  if (root !== undefined)
    for (const file of ["edge-ca-key.pem", "edge-ca-cert.der"]) copyFileSync(join(root, file), join(folder, file))
  const mesh = yield* freePort("127.0.0.1")
  const variables = {
    CT_EDGE_CP_URL: url,
    CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${admin}`,
    CT_EDGE_ADMIN_URL: `http://127.0.0.1:${admin}`,
    CT_EDGE_LISTEN: `127.0.0.1:${mesh}`,
    CT_EDGE_PUBLIC_ADDR: `127.0.0.1:${mesh}`,
    CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0",
    CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:0",
    CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0",
    CT_EDGE_RELAY_UPSTREAM: `127.0.0.1:${node}`,
    CT_EDGE_RELAY_NODE_PEER: "node",
    CT_EDGE_HEARTBEAT_SECS: "1",
    CT_EDGE_ID: id,
    CT_EDGE_MESH_RELAY_ENABLED: "1",
    CT_EDGE_MESH_RELAY_PRIVATE: "1"
  }
  return yield* start(variables, { folder })
})

const edges = Effect.gen(function* () {
  const { url, way } = yield* away
  const listen = { host: "127.0.0.1", port: 0 }
  const { address } = yield* RelayNode.make({ listen, operators: [], maxConnections: 64 })
  const places = { url, node: address.port }
  const first = yield* edge("first", places, yield* adminPort)
  const second = yield* edge("second", places, yield* freePort("127.0.0.1"), first.folder)
  return { first, second, way }
})

export class Edges extends Context.Service<
  Edges,
  { readonly first: TestEdge; readonly second: TestEdge; readonly way: Way }
>()("test/ChannelEdges") {
  static readonly layer = Layer.effect(Edges, edges).pipe(Layer.provide(AgentMetrics.layer))
}

export const stack = Edges.layer.pipe(Layer.provideMerge(controlPlane))
