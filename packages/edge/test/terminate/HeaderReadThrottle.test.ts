import { tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, mintPair } from "@catenet/testing/edge/TestEdge"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import type { TLSSocket } from "node:tls"
import { HeaderReadThrottle } from "../../../proxy/src/http1/HeaderReadThrottle.ts"
import { CertificateSource } from "../../src/tls/CertificateSource.ts"
import * as TlsAcceptor from "../../src/tls/TlsAcceptor.ts"

const ending = () => (error: unknown) => {
  throw error
}

it.live("a visitor who rests is not read, and loses nothing of what it said meanwhile", () =>
  Effect.gen(function* () {
    const { cert, key, root } = mintPair(["localhost"])
    const pieces: Array<string> = []
    const onSecure = (socket: TLSSocket) => {
      const { readableHighWaterMark } = socket
      const pace = new HeaderReadThrottle(socket, ending(), () => {
        assert.strictEqual(socket.readableHighWaterMark, readableHighWaterMark)
        socket.resume()
      })
      socket.once("close", () => pace.stop())
      socket.on("data", (piece: Buffer) => {
        pieces.push(piece.toString("latin1"))
        pace.follow(piece, true)
      })
    }
    const acceptor = TlsAcceptor.make({
      pairs: new CertificateSource({ cert, key }),
      alpn: [],
      onSecure,
      onFailure: () => undefined,
      ending
    })
    const server = yield* Effect.acquireRelease(
      Effect.sync(() => createServer({ pauseOnConnect: true }, acceptor.accept).listen(0, "127.0.0.1")),
      (server) => Effect.sync(() => server.close())
    )
    yield* Effect.promise(() => once(server, "listening"))
    const client = yield* Effect.acquireRelease(
      Effect.promise(() => tlsTo((server.address() as AddressInfo).port, root, "localhost")),
      (socket) => Effect.sync(() => socket.destroy())
    )
    const said = Array.from({ length: 100 }, (_, n) => String(n % 10)).join("")
    for (const letter of said) {
      client.write(letter)
      yield* Effect.sleep("4 millis")
    }
    yield* Effect.promise(() => eventually(() => pieces.join("") === said, "all that was said is heard"))
    assert.isAtMost(pieces[5]?.length ?? 0, 4, "of the sixty that came in the first rest")
    assert.isAtMost(pieces.length, 15, "a rest ends with all that came, not with one piece")
  }).pipe(Effect.scoped)
)
