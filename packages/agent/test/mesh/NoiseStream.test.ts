import { native } from "@catenet/crypto/native"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { once } from "node:events"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import * as MeshHandshake from "../../src/mesh/MeshHandshake.ts"
import { NoiseStream } from "../../src/mesh/NoiseStream.ts"

const key = native.x25519.keyPair(new Uint8Array(32).fill(3))

/** Both ends of a session over TCP, and the sockets below. */
const sessions = Effect.gen(function* () {
  const server = createServer({ allowHalfOpen: true })
  yield* Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening"))
  const accepted = once(server, "connection") as Promise<[Socket]>
  const near = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true })
  const [far] = yield* Effect.promise(() => accepted)
  server.close()
  const [begun, answered] = yield* Effect.all(
    [
      MeshHandshake.begin(near, key.publicKey, new Uint8Array()),
      MeshHandshake.answer(far, [key], () => Result.succeed(new Uint8Array()))
    ],
    { concurrency: 2 }
  )
  return { near, far, here: new NoiseStream(near, begun.session), there: new NoiseStream(far, answered.session) }
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))

const closed = (socket: Socket) =>
  Effect.promise(
    () => new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve())))
  )

describe("a sealed stream", () => {
  it.live("closes its carrier when it is destroyed between the two ends", () =>
    Effect.gen(function* () {
      const { far, here, near, there } = yield* sessions
      here.write("hello")
      there.resume().end()
      yield* Effect.promise(() => once(here.resume(), "end"))
      assert.isFalse(near.destroyed)
      here.destroy()
      yield* closed(near)
      yield* closed(far)
    })
  )

  it.live("lets its carrier end in order when both halves have ended", () =>
    Effect.gen(function* () {
      const { far, here, near, there } = yield* sessions
      const errors: Array<Error> = []
      for (const stream of [near, far, here, there]) stream.on("error", (error) => errors.push(error))
      const heard: Array<Buffer> = []
      there.on("data", (chunk: Buffer) => heard.push(chunk)).once("end", () => there.end())
      here.resume().end(Buffer.alloc(300_000, 7))
      yield* closed(near)
      yield* closed(far)
      assert.strictEqual(Buffer.concat(heard).length, 300_000)
      assert.isEmpty(errors)
    })
  )
})
