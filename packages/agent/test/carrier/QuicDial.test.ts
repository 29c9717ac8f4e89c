/** Real QUIC over loopback, through the one process that everything of an agent shares. */
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { onThisMachine } from "@catenet/testing/Promptness"
import { certificate, privateKey } from "@catenet/testing/wire/quic/certificate"
import type * as Quic from "@catenet/wire/quic/process/QuicProcess"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Result } from "effect"
import { createSocket } from "node:dgram"
import { text } from "node:stream/consumers"
import { QuicDial } from "../../src/carrier/QuicDial.ts"

const isSkipped = QuicProgram.find() === undefined
if (isSkipped) process.stderr.write("\nSKIPPED: the tests of QUIC need the runtime of this platform.\n\n")

const transport = { keepAlive: 3_000, idle: 10_000, streams: 100 }

/** Echoes every stream. */
const echo = (quic: Quic.QuicProcess, material: { readonly certificate: string; readonly key: string }) =>
  quic.listen({ at: { address: "127.0.0.1", port: 0 }, ...material, transport }, () => ({
    connected: (connection) => connection.take((stream) => void stream.pipe(stream)),
    failed: () => undefined
  }))

if (!isSkipped)
  layer(QuicDial.layer, { excludeTestServices: true })("a dial by QUIC", (it) => {
    it.effect("trusts one leaf or roots, for the name that it asks for, and shares the process", () =>
      Effect.gen(function* () {
        const dialer = yield* QuicDial
        assert.isTrue(dialer.isInstalled)
        const quic = yield* dialer.process
        const authority = makeAuthority()
        const leaf = authority.leaf("edge-cdn.invalid")
        const { port: pinned } = yield* echo(quic, { certificate, key: privateKey })
        const { port: rooted } = yield* echo(quic, { certificate: leaf.cert, key: leaf.key })
        const before = quic.pid()
        const one = yield* dialer.dial({ host: "localhost", port: pinned, roots: certificate })
        const two = yield* dialer.dial({
          host: "127.0.0.1",
          port: rooted,
          serverName: "edge-cdn.invalid",
          roots: authority.pem
        })
        for (const connection of [one, two]) {
          const stream = Result.getOrThrow(connection.open())
          stream.end("hello")
          assert.strictEqual(yield* Effect.promise(() => text(stream)), "hello")
          assert.strictEqual(connection.remote.address, "127.0.0.1")
        }
        const unnamed = yield* Effect.flip(dialer.dial({ host: "127.0.0.1", port: rooted, roots: authority.pem }))
        assert.match(unnamed.message, /^127\.0\.0\.1:\d+ by QUIC: .*certificate/iu)
        const foreign = yield* Effect.flip(dialer.dial({ host: "127.0.0.1", port: pinned, roots: authority.pem }))
        assert.match(foreign.message, /certificate/iu)
        assert.strictEqual(quic.pid(), before)
      }).pipe(Effect.scoped)
    )

    it.effect("ends with its scope", () =>
      Effect.gen(function* () {
        const dialer = yield* QuicDial
        const { port } = yield* echo(yield* dialer.process, { certificate, key: privateKey })
        const connection = yield* Effect.scoped(dialer.dial({ host: "127.0.0.1", port, roots: certificate }))
        assert.strictEqual((yield* Effect.promise(() => connection.closed)).by, "local")
      }).pipe(Effect.scoped)
    )

    it.effect("gives a silent port its time and no more", () =>
      Effect.gen(function* () {
        const dialer = yield* QuicDial
        const heard = new Set<number>()
        const silent = yield* Effect.acquireRelease(
          Effect.promise(
            () =>
              new Promise<ReturnType<typeof createSocket>>((resolve) => {
                const socket = createSocket("udp4")
                socket.on("message", (_, { port }) => heard.add(port))
                socket.bind(0, "127.0.0.1", () => resolve(socket))
              })
          ),
          (socket) => Effect.sync(() => void socket.close())
        )
        const { port } = silent.address()
        const [took, failed] = yield* Effect.timed(
          Effect.flip(dialer.dial({ host: "127.0.0.1", port, roots: certificate, millis: 700 }))
        )
        assert.match(failed.message, /no connection within 0\.7 s/u)
        assert.isBelow(Duration.toMillis(took), onThisMachine(3_000))
        assert.strictEqual(heard.size, 1)
        assert.match(
          (yield* Effect.flip(dialer.dial({ host: "no-such-host.invalid", port, roots: certificate }))).message,
          /no-such-host/u
        )
      }).pipe(Effect.scoped)
    )

    it.effect("waits for a process that is started again", () =>
      Effect.gen(function* () {
        const dialer = yield* QuicDial
        const quic = yield* dialer.process
        const { port } = yield* echo(quic, { certificate, key: privateKey })
        const target = { host: "127.0.0.1", port, roots: certificate }
        const first = yield* dialer.dial(target)
        process.kill(quic.pid(), "SIGKILL")
        assert.strictEqual((yield* Effect.promise(() => first.closed)).by, "process")
        const [took] = yield* Effect.timed(dialer.dial(target))
        process.stderr.write(`a dial after the QUIC process was killed took ${Duration.toMillis(took).toFixed(0)} ms\n`)
      }).pipe(Effect.scoped)
    )
  })
