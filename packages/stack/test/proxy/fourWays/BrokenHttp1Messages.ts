/** The same over HTTP/1.1: uploads and answers that break off, and answers of an origin that closes with the upload unread. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import * as Ways from "../Ways.ts"
import type { Path, Way } from "../Ways.ts"
import { Breaking, lastOf, until } from "./BrokenMessages.ts"

const uploadBytes = 3_000_000

/** Everything a visitor reads over HTTP/1.1 that uploads until it has the answer, and how its connection ended. */
const upload = (way: Way, framing: string) =>
  Effect.gen(function* () {
    const socket = yield* Ways.dial(way, "http/1.1")
    return yield* Effect.callback<{ readonly text: string; readonly error: string | undefined }>((resume) => {
      let text = ""
      let error: string | undefined
      socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")))
      socket.on("error", (failed) => (error = failed.message))
      socket.once("end", () => socket.destroy())
      socket.once("close", () => resume(Effect.succeed({ text, error })))
      socket.write(`POST /upload HTTP/1.1\r\nHost: ${way.host}\r\n${framing}\r\n\r\n`)
      if (framing.startsWith("Transfer")) socket.write(`${uploadBytes.toString(16)}\r\n`)
      socket.write(Buffer.alloc(uploadBytes, 7))
    })
  }).pipe(Effect.scoped)

/** Asks over HTTP/1.1 and reads until the connection is over: what came, and whether that is whole. */
const readAnswer = (way: Way, target: string) =>
  Effect.gen(function* () {
    const socket = yield* Ways.dial(way, "http/1.1")
    return yield* Effect.promise(async () => {
      const asked = request({ createConnection: () => socket, path: target, headers: { host: way.host } }).end()
      const [response] = (await once(asked, "response")) as [IncomingMessage]
      let text = ""
      response.on("data", (chunk: Buffer) => (text += chunk.toString()))
      await new Promise((resolve) => response.on("error", () => undefined).once("close", resolve))
      return { text, isWhole: response.complete }
    })
  }).pipe(Effect.scoped)

export const cases = (path: Path) => ({
  "whose connection ends in an upload is cut at the origin": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("breaking", path)
    const origin = yield* Breaking
    for (const framing of ["Content-Length: 100\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n4\r\n"])
      for (const how of ["end", "destroy"] as const) {
        const socket = yield* Ways.dial(way, "http/1.1")
        socket.resume().write(`POST /gone HTTP/1.1\r\nHost: ${way.host}\r\n${framing}half`)
        yield* until(() => lastOf(origin, "/gone")?.bytes === 4, "the origin has the half")
        socket[how]()
        yield* until(() => lastOf(origin, "/gone")?.ended !== undefined, "the origin sees an end")
        assert.strictEqual(lastOf(origin, "/gone")?.ended, "torn", `${framing} ${how}`)
        origin.heard.length = 0
      }
  }),

  "does not take an answer that breaks off for a whole one": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("breaking", path)
    assert.deepStrictEqual(yield* readAnswer(way, "/torn-chunk"), { text: "half", isWhole: false })
  }),

  "reads the early answer of an origin that closes with the upload unread, ten times of ten": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("hasty", path)
    for (const framing of [`Content-Length: ${uploadBytes}`, "Transfer-Encoding: chunked"])
      for (let round = 0; round < 10; round++) {
        const { error, text } = yield* upload(way, framing)
        const [status, body] = [text.split("\r\n", 1)[0], text.split("\r\n\r\n")[1]]
        assert.deepStrictEqual(
          [status, body, error],
          ["HTTP/1.1 413 Content Too Large", "too big", undefined],
          `${framing}, ${round}`
        )
      }
  })
})
