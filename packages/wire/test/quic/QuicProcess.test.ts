/** Real QUIC between two ends of one process, over loopback. */
import { eventually, untilSuccess } from "@catenet/testing/Eventually"
import { certificate, nextCertificate, nextKey, privateKey } from "@catenet/testing/wire/quic/certificate"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Result } from "effect"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import type { Duplex } from "node:stream"
import { buffer, text } from "node:stream/consumers"
import { setImmediate } from "node:timers/promises"
import * as Quic from "../../src/quic/process/QuicProcess.ts"
import * as QuicProgram from "../../src/quic/process/QuicProgram.ts"
import type { QuicConnection } from "../../src/quic/QuicConnection.ts"

const program = QuicProgram.find()
if (program === undefined) process.stderr.write("\nSKIPPED: the tests of QUIC need the runtime of this platform.\n\n")

const transport = { keepAlive: 3_000, idle: 10_000, streams: 100 }
const loopback = { address: "127.0.0.1", port: 0 }
const listening = { at: loopback, certificate, key: privateKey, transport }

class Running extends Context.Service<Running, Quic.QuicProcess>()("test/Running") {
  static readonly layer = Layer.effect(
    this,
    Effect.suspend(() => (program === undefined ? Effect.never : Quic.start(program)))
  )
}

/** A connection, from both ends; `serve` takes the streams of the dialing end. */
const pair = Effect.fn("pair")(function* (serve: (stream: Duplex) => void = () => undefined, options = transport) {
  const quic = yield* Running
  const met = Promise.withResolvers<QuicConnection>()
  const connected = (connection: QuicConnection) => {
    connection.take(serve)
    met.resolve(connection)
  }
  const at = yield* quic.listen({ ...listening, transport: options }, () => ({ connected, failed: met.reject }))
  const one = yield* quic.dial({ to: at, serverName: "localhost", roots: certificate, transport: options })
  return { at, one, two: yield* Effect.promise(() => met.promise) }
})

const opened = (connection: QuicConnection) => Result.getOrThrow(connection.open())

if (program !== undefined)
  layer(Running.layer, { excludeTestServices: true })("a QUIC process", (it) => {
    it.effect("carries streams of both ends, each direction by itself", () =>
      Effect.gen(function* () {
        const { one, two } = yield* pair((stream) => stream.pipe(stream))
        const stream = opened(one)
        stream.write("hel")
        stream.end("lo")
        assert.strictEqual(yield* Effect.promise(() => text(stream)), "hello")
        // The answer is over before the question is.
        one.take((stream) => void stream.end("at once"))
        const back = opened(two)
        back.write("a")
        assert.strictEqual(yield* Effect.promise(() => text(back)), "at once")
        back.end("b")
        one.close()
      }).pipe(Effect.scoped)
    )

    it.effect("carries many streams at once, and megabytes unchanged", () =>
      Effect.gen(function* () {
        const { one } = yield* pair((stream) => stream.pipe(stream))
        const sent = Array.from({ length: 60 }, (_, index) => randomBytes(index === 0 ? 8_000_000 : 20_000))
        yield* Effect.promise(() =>
          Promise.all(
            sent.map(async (bytes) => {
              const stream = opened(one)
              stream.end(bytes)
              assert.isTrue((await buffer(stream)).equals(bytes))
            })
          )
        )
        one.close()
      }).pipe(Effect.scoped)
    )

    it.effect("holds a sender back whose reader waits", () =>
      Effect.gen(function* () {
        const stalled = Promise.withResolvers<Duplex>()
        const { one } = yield* pair(stalled.resolve)
        const stream = opened(one)
        let written = 0
        const chunk = Buffer.alloc(65_536)
        for (let full = false; !full && written < 1_000; written++)
          full = !stream.write(chunk) && (yield* Effect.promise(() => isStuck(stream)))
        assert.isBelow(written, 200)
        const reader = yield* Effect.promise(() => stalled.promise)
        stream.end()
        assert.strictEqual((yield* Effect.promise(() => buffer(reader))).length, written * chunk.length)
        one.close()
      }).pipe(Effect.scoped)
    )

    it.effect("ends what was reset, and says when the peer takes no more streams", () =>
      Effect.gen(function* () {
        const ended: Array<boolean> = []
        const taken: Array<Duplex> = []
        const take = (stream: Duplex) => {
          taken.push(stream.resume())
          stream.once("end", () => ended.push(true))
        }
        const { one } = yield* pair(take, { ...transport, streams: 2 })
        const [first, second, third] = [opened(one), opened(one), opened(one)]
        for (const stream of [first, second, third]) stream.write("x")
        yield* Effect.promise(() => eventually(() => third.resetBy?.code === "full", "the third is refused"))
        yield* Effect.promise(() => eventually(() => taken.length === 2, "two came"))
        first.reset("cancelled")
        yield* Effect.promise(() => eventually(() => ended.length === 1, "the runtime knows no reset"))
        one.close()
      }).pipe(Effect.scoped)
    )

    it.effect("ends a connection with a code, its streams with it, and refuses those that are not let in", () =>
      Effect.gen(function* () {
        const { one, two } = yield* pair()
        const stream = opened(one)
        one.close(7, "done")
        assert.deepStrictEqual(yield* Effect.promise(() => two.closed), { by: "remote", code: 7, reason: "done" })
        assert.strictEqual(stream.resetBy?.code, "lost")
        assert.isTrue(Result.isSuccess(two.open()) ? two.isClosed : true)

        const quic = yield* Running
        const at = yield* quic.listen(listening, () => undefined)
        const refused = yield* Effect.result(
          quic.dial({ to: at, serverName: "localhost", roots: certificate, transport })
        )
        // The client may believe for a moment that it was taken.
        if (Result.isSuccess(refused)) yield* Effect.promise(() => refused.success.closed)
      }).pipe(Effect.scoped)
    )

    it.effect("says why it cannot listen or connect", () =>
      Effect.gen(function* () {
        const quic = yield* Running
        const { at } = yield* pair()
        const taken = yield* Effect.flip(quic.listen({ ...listening, at }, () => undefined))
        assert.match(taken.message, /in use/iu)
        const dial = { to: at, serverName: "elsewhere.test", roots: certificate, transport }
        assert.match((yield* Effect.flip(quic.dial(dial))).message, /certificate/iu)
      }).pipe(Effect.scoped)
    )

    it.effect("checks every certificate, unless it was started to check none", () =>
      Effect.gen(function* () {
        if (program === undefined) return
        const quic = yield* Running
        const { at } = yield* pair()
        const dial = { to: at, serverName: "localhost", transport }
        for (const roots of [nextCertificate, ""])
          assert.match((yield* Effect.flip(quic.dial({ ...dial, roots }))).message, /certificate/iu)
        const unverified = yield* Quic.start(program, "unverified")
        ;(yield* unverified.dial({ ...dial, roots: "" })).close()
      }).pipe(Effect.scoped)
    )

    it.effect("may listen at the hosts that it was started for, and use no other network", () =>
      Effect.gen(function* () {
        if (program === undefined) return
        const quic = yield* Quic.start(program, { listen: ["127.0.0.1", "::1"] })
        const to = yield* quic.listen(listening, () => undefined)
        assert.isAbove(to.port, 0)
        const elsewhere = { address: "127.0.0.2", port: 0 }
        const refused = yield* Effect.flip(quic.listen({ ...listening, at: elsewhere }, () => undefined))
        assert.include(refused.message, 'Requires net access to "127.0.0.2:0"')
        const dial = quic.dial({ to, serverName: "localhost", roots: certificate, transport })
        assert.include((yield* Effect.flip(dial)).message, "Requires net access")
      }).pipe(Effect.scoped)
    )

    it.effect("ends one connection where a callback throws, and no other one", () =>
      Effect.gen(function* () {
        const quic = yield* Running
        const { one } = yield* pair((stream) => stream.pipe(stream))
        const thrown = () => {
          throw new Error("thrown on purpose")
        }
        const taking = (connection: QuicConnection) => connection.take(thrown)
        const reading = (connection: QuicConnection) => connection.take((stream) => stream.on("data", thrown).resume())
        const places = [
          thrown,
          () => ({ connected: thrown, failed: thrown }),
          () => ({ connected: taking, failed: thrown })
        ]
        for (const place of places) {
          const at = yield* quic.listen(listening, place)
          const dialed = yield* Effect.result(
            quic.dial({ to: at, serverName: "localhost", roots: certificate, transport })
          )
          if (Result.isFailure(dialed)) continue
          const begun = dialed.success.open()
          if (Result.isSuccess(begun)) begun.success.write("x")
          yield* Effect.promise(() => dialed.success.closed)
        }
        // What a listener of one stream throws ends that stream.
        const at = yield* quic.listen(listening, () => ({ connected: reading, failed: thrown }))
        const two = yield* quic.dial({ to: at, serverName: "localhost", roots: certificate, transport })
        const broken = opened(two)
        broken.write("x")
        yield* Effect.promise(() => text(broken.resume()).catch(() => ""))
        assert.isFalse(two.isClosed)
        const stream = opened(one)
        stream.end("still")
        assert.strictEqual(yield* Effect.promise(() => text(stream.resume())), "still")
      }).pipe(Effect.scoped)
    )

    it.effect("loses with its process only what that carried, and listens again within a second", () =>
      Effect.gen(function* () {
        const quic = yield* Running
        const { at, one, two } = yield* pair()
        const before = quic.pid()
        const environment = readFileSync(`/proc/${before}/environ`, "latin1")
        assert.notInclude(environment, "PATH=")
        assert.notMatch(readFileSync(`/proc/${before}/cmdline`, "latin1"), /[0-9a-f]{64}/u)
        process.kill(before, "SIGKILL")
        const killed = performance.now()
        for (const end of [one, two]) assert.strictEqual((yield* Effect.promise(() => end.closed)).by, "process")
        const again = yield* untilSuccess(quic.dial({ to: at, serverName: "localhost", roots: certificate, transport }))
        process.stderr.write(
          `a killed QUIC process listened again after ${Math.round(performance.now() - killed)} ms\n`
        )
        assert.notStrictEqual(quic.pid(), before)
        again.close()
      }).pipe(Effect.scoped)
    )

    it.effect("goes on with another certificate at a bound port, and no connection ends or fails", () =>
      Effect.gen(function* () {
        const quic = yield* Running
        const at = yield* quic.listen(listening, () => ({
          connected: (connection) => connection.take((stream) => stream.pipe(stream).resume()),
          failed: () => undefined
        }))
        const dial = (roots: string) => quic.dial({ to: at, serverName: "localhost", roots, transport })
        const before = yield* dial(certificate)
        const pairs = [
          { certificate: nextCertificate, key: nextKey },
          { certificate, key: privateKey }
        ]
        const renewed: Array<number> = []
        const dials = yield* Effect.forkChild(
          Effect.gen(function* () {
            let taken = 0
            for (; renewed.length < 20; taken++) (yield* dial(`${certificate}\n${nextCertificate}`)).close()
            return taken
          })
        )
        while (renewed.length < 20) renewed.push(yield* Effect.as(at.renew(pairs[renewed.length % 2]!), 1))
        assert.isAbove(yield* Fiber.join(dials), 0)
        assert.match((yield* Effect.flip(dial(nextCertificate))).message, /certificate/iu)
        yield* at.renew(pairs[0]!)
        assert.match((yield* Effect.flip(dial(certificate))).message, /certificate/iu)
        assert.match((yield* Effect.flip(at.renew({ certificate, key: "no key" }))).message, /./u)
        const stream = opened(before)
        stream.end("still")
        assert.strictEqual(yield* Effect.promise(() => text(stream.resume())), "still")
        // The process that comes after this one begins with it.
        process.kill(quic.pid(), "SIGKILL")
        yield* Effect.promise(() => before.closed)
        const again = yield* untilSuccess(dial(nextCertificate))
        again.close()
      }).pipe(Effect.scoped)
    )
  })

/** A few turns in which nothing moved. */
const isStuck = async (stream: Duplex) => {
  for (let turn = 0; turn < 300; turn++) {
    await setImmediate()
    if (!stream.writableNeedDrain) return false
  }
  return true
}
