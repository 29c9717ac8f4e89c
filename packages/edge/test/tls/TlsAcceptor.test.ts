import { PairSource } from "@catenet/edge/tls/PairSource"
import * as TlsAcceptor from "@catenet/edge/tls/TlsAcceptor"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, connect, type AddressInfo } from "node:net"
import { tlsTo } from "../harness/Agent.ts"
import { helloFor } from "../harness/Hello.ts"
import { mintPair } from "../harness/TestEdge.ts"

it.live("ends a slow handshake at its timeout, and lets a finished one be silent for longer", () =>
  Effect.gen(function* () {
    const { cert, key, root } = mintPair(["localhost"])
    const acceptor = TlsAcceptor.make({
      pairs: new PairSource({ cert, key }),
      alpn: [],
      handshakeMillis: 1_500,
      onSecure: (socket) => void socket.resume(),
      onFailure: () => undefined,
      ending: () => (error) => {
        throw error
      }
    })
    const server = yield* Effect.acquireRelease(
      Effect.sync(() => createServer({ pauseOnConnect: true }, acceptor.accept).listen(0, "127.0.0.1")),
      (server) => Effect.sync(() => server.close())
    )
    yield* Effect.promise(() => once(server, "listening"))
    const { port } = server.address() as AddressInfo
    const done = yield* Effect.promise(() => tlsTo(port, root, "localhost"))
    const slow = connect({ host: "127.0.0.1", port })
    // A reset ends it as well as an end does: the cut finds unread bytes of the drip.
    const closed = new Promise((resolve) => slow.on("error", () => undefined).once("close", resolve))
    slow.resume()
    slow.write(yield* Effect.promise(() => helloFor("localhost")))
    // The head of a record that never becomes whole.
    const record = [0x17, 0x03, 0x03, 0x40, 0x00]
    const drip = setInterval(() => slow.write(Buffer.of(record.shift() ?? 0)), 50)
    yield* Effect.promise(() => closed)
    clearInterval(drip)
    assert.isFalse(done.readableEnded)
    done.destroy()
  }).pipe(Effect.scoped)
)
