/** A port behind which the agent ends TLS for an origin: its visitors as an edge would hand them over. */
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { Effect } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { connect as connectTls, createSecureContext } from "node:tls"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import type { AgentCardResponder } from "../../src/tunnel/AgentCardResponder.ts"
import type * as FirstRequestHead from "../../src/tunnel/FirstRequestHead.ts"
import * as TlsTermination from "../../src/tunnel/TlsTermination.ts"

export const host = "hello.example"

/** Open until the scope closes. `tls` connects as a visitor does. */
export const open = Effect.fnUntraced(function* (
  origin: number,
  bounds: FirstRequestHead.Bounds,
  card?: AgentCardResponder
) {
  const authority = makeAuthority()
  const { cert, key } = authority.leaf(host)
  const settings = {
    host: "127.0.0.1",
    port: origin,
    protocol: "tcp",
    terminate: undefined,
    proxyProtocol: "none",
    healthPath: undefined
  } as const
  const pair = Effect.succeed(createSecureContext({ cert, key }))
  const handler = TlsTermination.make(settings, pair, yield* AgentMetrics, bounds, card)
  const run = Effect.runForkWith(yield* Effect.context())
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {})
    run(handler(socket, undefined))
  })
  server.listen(0, "127.0.0.1")
  yield* Effect.promise(() => once(server, "listening"))
  yield* Effect.addFinalizer(() => Effect.sync(() => void server.close()))
  const { port } = server.address() as AddressInfo
  const tls = () => connectTls({ socket: connect(port, "127.0.0.1"), servername: host, ca: authority.pem })
  return { authority, port, tls }
})
