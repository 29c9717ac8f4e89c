import { tlsTo } from "@catenet/testing/edge/Agent"
import { helloFor } from "@catenet/testing/edge/Hello"
import { mintPair } from "@catenet/testing/edge/TestEdge"
import { peekClientHello } from "@catenet/wire/transport/HelloPeek"
import { assert, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { once } from "node:events"
import { createServer, connect, type AddressInfo, type Socket } from "node:net"
import { type ConnectionOptions, connect as connectTls } from "node:tls"
import { CertificateSource } from "../../src/tls/CertificateSource.ts"
import { periodMillis, TicketKeyRing } from "../../src/tls/TicketKeyRing.ts"
import * as TlsAcceptor from "../../src/tls/TlsAcceptor.ts"

const pair = mintPair(["localhost"])

/** A server of the acceptor, with what a client needs to reach it. */
const servingWith = Effect.fnUntraced(function* (tickets?: TicketKeyRing) {
  const { cert, key, root } = pair
  const acceptor = TlsAcceptor.make({
    pairs: new CertificateSource({ cert, key }),
    alpn: [],
    onSecure: (socket) => void socket.resume(),
    onFailure: () => undefined,
    ...(tickets === undefined ? {} : { tickets }),
    ending: () => (error) => {
      throw error
    }
  })
  const accept = (socket: Socket) =>
    void peekClientHello(socket).then((hello) => acceptor.accept(socket, "localhost", Result.getOrThrow(hello).ticket))
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => createServer({ pauseOnConnect: true }, accept).listen(0, "127.0.0.1")),
    (server) => Effect.sync(() => server.close())
  )
  yield* Effect.promise(() => once(server, "listening"))
  return { host: "127.0.0.1", port: (server.address() as AddressInfo).port, ca: root, servername: "localhost" }
})

const serving = servingWith()

const outcome = (options: ConnectionOptions) =>
  Effect.callback<string>((resume) => {
    const socket = connectTls(options, () => {
      resume(Effect.succeed(`${socket.getProtocol()} ${socket.getCipher().name}`))
      socket.destroy()
    })
    socket.on("error", ({ code }: NodeJS.ErrnoException) => resume(Effect.succeed(String(code))))
  })

it.live("accepts TLS 1.2 with forward secrecy and authenticated encryption alone", () =>
  Effect.gen(function* () {
    const server = yield* serving
    const by = (ciphers: string) => outcome({ ...server, maxVersion: "TLSv1.2", ciphers })
    for (const suite of ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"])
      assert.strictEqual(yield* by(suite), `TLSv1.2 ${suite}`)
    for (const suite of [
      "ECDHE-ECDSA-AES128-SHA256",
      "ECDHE-ECDSA-AES256-SHA",
      "ECDHE-ECDSA-AES128-CCM8",
      "AES128-SHA"
    ])
      assert.match(yield* by(`${suite}@SECLEVEL=0`), /^ERR_SSL_/, suite)
    assert.match(
      yield* outcome({ ...server, minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "ALL@SECLEVEL=0" }),
      /^ERR_SSL_/
    )
    assert.match(yield* outcome(server), /^TLSv1\.3 TLS_/)
  }).pipe(Effect.scoped)
)

it.live("does not renegotiate", () =>
  Effect.gen(function* () {
    const server = yield* serving
    const ended = yield* Effect.callback<string>((resume) => {
      const socket = connectTls({ ...server, maxVersion: "TLSv1.2" }, () => {
        socket.renegotiate({}, (error) => resume(Effect.succeed(error === null ? "renegotiated" : "refused")))
      })
      socket.on("error", () => resume(Effect.succeed("refused"))).on("close", () => resume(Effect.succeed("refused")))
    })
    assert.strictEqual(ended, "refused")
  }).pipe(Effect.scoped)
)

it.live("ends a slow handshake at its timeout, and lets a finished one be silent for longer", () =>
  Effect.gen(function* () {
    const { cert, key, root } = mintPair(["localhost"])
    const acceptor = TlsAcceptor.make({
      pairs: new CertificateSource({ cert, key }),
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

/** Whether the session was resumed, and the ticket for the next one. Node gives none again to one who has resumed. */
const visit = (server: ConnectionOptions, session?: Buffer) =>
  Effect.callback<{ readonly resumed: boolean; readonly session: Buffer }>((resume) => {
    const socket = connectTls({ ...server, ...(session === undefined ? {} : { session }) })
    const end = (resumed: boolean, session: Buffer) => {
      resume(Effect.succeed({ resumed, session }))
      socket.destroy()
    }
    let fresh: Buffer | undefined
    const settle = () => {
      if (socket.isSessionReused()) end(true, session ?? Buffer.alloc(0))
      else if (fresh !== undefined && socket.authorized) end(false, fresh)
    }
    socket.on("session", (ticket: Buffer) => {
      fresh = ticket
      settle()
    })
    socket.on("secureConnect", settle)
    socket.on("error", (error) => resume(Effect.die(error)))
  })

for (const maxVersion of ["TLSv1.3", "TLSv1.2"] as const)
  it.live(
    `resumes a session of ${maxVersion} at any acceptor that has the key of its ticket, and no longer than two periods`,
    () =>
      Effect.gen(function* () {
        let now = 0
        const ring = new TicketKeyRing(() => now)
        const [one, two, stranger] = yield* Effect.all([
          servingWith(ring),
          servingWith(TicketKeyRing.of(() => now, ring.contents)),
          servingWith(new TicketKeyRing(() => now))
        ])
        const at = (server: ConnectionOptions) => ({ ...server, maxVersion })
        const first = yield* visit(at(one))
        assert.isFalse(first.resumed)
        assert.isTrue((yield* visit(at(one), first.session)).resumed)
        assert.isTrue((yield* visit(at(two), first.session)).resumed)
        assert.isFalse((yield* visit(at(stranger), first.session)).resumed)
        now = periodMillis
        ring.renew()
        const second = yield* visit(at(one))
        assert.isFalse(second.resumed)
        for (const { session } of [first, second]) assert.isTrue((yield* visit(at(one), session)).resumed)
        now = 2 * periodMillis
        ring.renew()
        assert.isFalse((yield* visit(at(one), first.session)).resumed)
        assert.isTrue((yield* visit(at(one), second.session)).resumed)
      }).pipe(Effect.scoped)
  )
