/** An agent that breaks off behind a whole answer, as agents of other makes do when their origin refuses an upload and closes. */
import { readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { TLSSocket } from "node:tls"

const host = "app.zone.test"
const uploadBytes = 3_000_000
const whole = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 7\r\n\r\ntoo big"
const half = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo big"

const heardBy = (visitor: TLSSocket) =>
  Effect.callback<{ readonly text: string; readonly error: string | undefined }>((resume) => {
    let [text, error]: [string, string | undefined] = ["", undefined]
    visitor.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")))
    visitor.on("error", (failed) => (error = failed.message))
    visitor.once("end", () => visitor.destroy())
    visitor.once("close", () => resume(Effect.succeed({ text, error })))
    visitor.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${uploadBytes}\r\n\r\n`)
    visitor.write(Buffer.alloc(uploadBytes))
  })

/** What visitors hear of an agent that answers so and resets the stream once the visitor has read the answer. */
const visited = (answer: string) =>
  Effect.gen(function* () {
    const world = yield* start()
    yield* Effect.promise(() => world.authorize(token("b"), host, "gelb"))
    const agent = yield* servingAgent(world, token("b"), [host], (stream) => {
      readUntil(stream, "\r\n\r\n").then(
        () => {
          stream.pause()
          stream.write(answer)
        },
        () => undefined
      )
    })
    const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, host, ["http/1.1"]))
    visitor.on("data", () => agent.streams.at(-1)?.reset("cancelled"))
    return yield* heardBy(visitor)
  }).pipe(Effect.scoped)

describe("a visitor that still uploads when its agent breaks off", () => {
  it.live("reads a whole answer to its end without a reset", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 5; round++)
        assert.deepStrictEqual(yield* visited(whole), { text: whole, error: undefined })
    })
  )

  it.live("sees half an answer break off", () =>
    Effect.gen(function* () {
      const { error, text } = yield* visited(half)
      assert.deepStrictEqual([text, error], [half, "read ECONNRESET"])
    })
  )
})
