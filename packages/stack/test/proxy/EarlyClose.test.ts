/**
 * An origin that refuses an upload and closes at once, as body limits of small servers do: a visitor of either tier that speaks
 * HTTP/1.1 reads the whole answer, whatever it was still sending.
 */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { type AddressInfo, createServer } from "node:net"
import * as BothTiers from "./BothTiers.ts"

const answer = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 7\r\nConnection: close\r\n\r\ntoo big"
const uploadBytes = 3_000_000

class Place extends Context.Service<Place, ReadonlyArray<BothTiers.Tier>>()("stack/test/proxy/EarlyClose") {
  static readonly layer = Layer.effect(
    Place,
    Effect.gen(function* () {
      const server = createServer((socket) => {
        socket.on("error", () => undefined)
        // Closes with the upload unread, so that the system resets the connection behind the answer.
        socket.once("data", () => void socket.pause().write(answer, () => socket.destroy()))
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => server.close())
      )
      return yield* BothTiers.make((server.address() as AddressInfo).port)
    })
  )
}

/** Everything a visitor reads that uploads until it has the answer, and how its connection ended. */
const upload = (tier: BothTiers.Tier, framing: string) =>
  Effect.gen(function* () {
    const socket = yield* BothTiers.dial(tier, "http/1.1")
    return yield* Effect.callback<{ readonly text: string; readonly error: string | undefined }>((resume) => {
      let text = ""
      let error: string | undefined
      socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")))
      socket.on("error", (failed) => (error = failed.message))
      socket.once("end", () => socket.destroy())
      socket.once("close", () => resume(Effect.succeed({ text, error })))
      socket.write(`POST /upload HTTP/1.1\r\nHost: ${tier.host}\r\n${framing}\r\n\r\n`)
      if (framing.startsWith("Transfer")) socket.write(`${uploadBytes.toString(16)}\r\n`)
      socket.write(Buffer.alloc(uploadBytes, 7))
    })
  }).pipe(Effect.scoped)

layer(Place.layer, { timeout: 60_000, excludeTestServices: true })("an early answer of an origin that closes", (it) => {
  it.effect("reaches a visitor of either tier whole, ten times of ten", () =>
    Effect.gen(function* () {
      for (const tier of yield* Place) {
        for (const framing of [`Content-Length: ${uploadBytes}`, "Transfer-Encoding: chunked"]) {
          for (let round = 0; round < 10; round++) {
            const { error, text } = yield* upload(tier, framing)
            const [status, body] = [text.split("\r\n", 1)[0], text.split("\r\n\r\n")[1]]
            assert.deepStrictEqual(
              [status, body, error],
              ["HTTP/1.1 413 Content Too Large", "too big", undefined],
              `${tier.name}, ${framing}, ${round}`
            )
          }
        }
      }
    })
  )
})
