/** A port behind which the agent ends TLS for an origin: its visitors as an edge would hand them over. */
import { makeAuthority } from "@catenet/testing/agent/Authority"
import type { CrumbBudget } from "@catenet/wire/transport/CrumbBudget"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { connect as connectTls, createSecureContext } from "node:tls"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import type { Enforcement } from "../../src/policy/TunnelGate.ts"
import type { AgentCardResponder } from "../../src/tunnel/AgentCardResponder.ts"
import type * as FirstRequestHead from "../../src/tunnel/FirstRequestHead.ts"
import * as OriginConnections from "../../src/tunnel/OriginConnections.ts"
import * as TlsTermination from "../../src/tunnel/TlsTermination.ts"
import { plainOrigin } from "./Origins.ts"

export const host = "hello.example"

/** Open until the scope closes. `tls` connects as a visitor does. */
export const open = Effect.fnUntraced(function* (
  origin: number,
  bounds: FirstRequestHead.Bounds,
  card?: AgentCardResponder,
  crumbs?: CrumbBudget,
  /** What the owner demands; `gated` as the edge says it of each visitor. */
  demands: { readonly enforcement?: Enforcement; readonly gated?: boolean } = {}
) {
  const authority = makeAuthority()
  const { cert, key } = authority.leaf(host)
  const settings = yield* OriginConnections.open(plainOrigin(origin)).pipe(
    Effect.orDie,
    Effect.provide(NodeFileSystem.layer)
  )
  const pair = Effect.succeed(createSecureContext({ cert, key }))
  const handler = TlsTermination.make(settings, pair, yield* AgentMetrics, {
    bounds,
    card,
    crumbs,
    enforcement: demands.enforcement
  })
  const run = Effect.runForkWith(yield* Effect.context())
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {})
    const { remoteAddress: address = "", remotePort: port = 0 } = socket
    const gated = demands.gated === true
    run(handler(socket, { registration: 1, kind: "visitor", tls: "passthrough", client: { address, port }, gated }))
  })
  server.listen(0, "127.0.0.1")
  yield* Effect.promise(() => once(server, "listening"))
  yield* Effect.addFinalizer(() => Effect.sync(() => void server.close()))
  const { port } = server.address() as AddressInfo
  const tls = (localAddress = "127.0.0.1", alpn: ReadonlyArray<string> = []) =>
    connectTls({
      socket: connect({ port, host: "127.0.0.1", localAddress }),
      servername: host,
      ca: authority.pem,
      ...(alpn.length > 0 && { ALPNProtocols: [...alpn] })
    })
  return { authority, port, tls }
})
